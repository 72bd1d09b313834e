package org.apache.flink.streaming.connectors.kafka.internals;
public final class KafkaTopicPartition implements java.io.Serializable {
    private static final long serialVersionUID = 722083576322742325L;
    private final String topic;
    private final int partition;
    private final int cachedHash;
    public KafkaTopicPartition(String topic, int partition) {
        this.topic = topic; this.partition = partition;
        this.cachedHash = 31 * topic.hashCode() + partition;
    }
}
