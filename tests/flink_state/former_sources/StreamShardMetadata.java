package org.apache.flink.streaming.connectors.kinesis.model;
public class StreamShardMetadata implements java.io.Serializable {
    public StreamShardMetadata() {}
    private String streamName;
    public String getStreamName() { return streamName; }
    public void setStreamName(String v) { streamName = v; }
    private String shardId;
    public String getShardId() { return shardId; }
    public void setShardId(String v) { shardId = v; }
    private String parentShardId;
    public String getParentShardId() { return parentShardId; }
    public void setParentShardId(String v) { parentShardId = v; }
    private String adjacentParentShardId;
    public String getAdjacentParentShardId() { return adjacentParentShardId; }
    public void setAdjacentParentShardId(String v) { adjacentParentShardId = v; }
    private String startingHashKey;
    public String getStartingHashKey() { return startingHashKey; }
    public void setStartingHashKey(String v) { startingHashKey = v; }
    private String endingHashKey;
    public String getEndingHashKey() { return endingHashKey; }
    public void setEndingHashKey(String v) { endingHashKey = v; }
    private String startingSequenceNumber;
    public String getStartingSequenceNumber() { return startingSequenceNumber; }
    public void setStartingSequenceNumber(String v) { startingSequenceNumber = v; }
    private String endingSequenceNumber;
    public String getEndingSequenceNumber() { return endingSequenceNumber; }
    public void setEndingSequenceNumber(String v) { endingSequenceNumber = v; }
}
