package org.apache.flink.streaming.connectors.kinesis.model;
public class SequenceNumber implements java.io.Serializable {
    private static final long serialVersionUID = 876972197938972667L;
    private final String sequenceNumber;
    private final long subSequenceNumber;
    private final int cachedHash;
    public SequenceNumber(String n, long sub) {
        this.sequenceNumber = n; this.subSequenceNumber = sub;
        this.cachedHash = 37 * (n.hashCode() + Long.hashCode(sub));
    }
}
