import java.util.*;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.*;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.runtime.TupleSerializer;
import org.apache.flink.api.java.typeutils.runtime.kryo.KryoSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.*;
import org.apache.flink.runtime.state.*;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.source.RichParallelSourceFunction;
import org.apache.flink.streaming.api.functions.sink.DiscardingSink;
import org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition;
import org.apache.flink.streaming.connectors.kinesis.model.*;

/**
 * Makes savepoints with the state of FlinkKafkaConsumer and FlinkKinesisConsumer, without their
 * jars: the state, its serializers and the names and fields of classes are theirs, and Flink 1.20.0
 * writes it.
 *
 * <pre>
 * javac -cp "LIB/*" -d out *.java
 * java --add-opens java.base/java.util=ALL-UNNAMED -cp "LIB/*:out" FormerSources kafka /tmp/made
 * gzip -9nc /tmp/made/*&#47;_metadata > ../savepoints/old-kafka.gz
 * </pre>
 */
public class FormerSources {
    static StreamShardMetadata shard(String stream, int n, String from, String to, String parent, String end) {
        StreamShardMetadata s = new StreamShardMetadata();
        s.setStreamName(stream); s.setShardId(String.format("shardId-%012d", n));
        s.setStartingHashKey(from); s.setEndingHashKey(to);
        s.setStartingSequenceNumber("4960000000000000000000000000000000000000000000000000000" + n);
        s.setParentShardId(parent); s.setEndingSequenceNumber(end);
        return s;
    }
    public static class Source extends RichParallelSourceFunction<String> implements CheckpointedFunction {
        volatile boolean running = true;
        final String kind; transient ListState<Object> state;
        Source(String kind) { this.kind = kind; }
        public void run(SourceContext<String> c) throws Exception {
            c.collect("x");
            while (running) Thread.sleep(20);
        }
        public void cancel() { running = false; }
        public void initializeState(FunctionInitializationContext c) throws Exception {
            ExecutionConfig e = new ExecutionConfig();
            Class<?> tuple = Tuple2.class;
            TypeSerializer<?>[] fields = kind.equals("kafka")
                ? new TypeSerializer<?>[] {new KryoSerializer<>(KafkaTopicPartition.class, e), LongSerializer.INSTANCE}
                : new TypeSerializer<?>[] {TypeInformation.of(StreamShardMetadata.class).createSerializer(e), new KryoSerializer<>(SequenceNumber.class, e)};
            TypeSerializer s = new TupleSerializer(tuple, fields);
            state = c.getOperatorStateStore().getUnionListState(new ListStateDescriptor<Object>(
                kind.equals("kafka") ? "topic-partition-offset-states" : "Kinesis-Stream-Shard-State", s));
        }
        public void snapshotState(FunctionSnapshotContext c) throws Exception {
            int me = getRuntimeContext().getIndexOfThisSubtask();
            state.clear();
            if (kind.equals("kafka")) {
                state.add(new Tuple2<>(new KafkaTopicPartition("lines", me), 5L));
                if (me == 0) state.add(new Tuple2<>(new KafkaTopicPartition("late", 300), -915623761775L));
            } else if (me == 0) {
                String half = "170141183460469231731687303715884105727", all = "340282366920938463463374607431768211455";
                state.add(new Tuple2<>(shard("clicks", 0, "0", half, null, null), new SequenceNumber("49600000000000000000000000000000000000000000000000000017", -1)));
                state.add(new Tuple2<>(shard("clicks", 2, "0", half, "shardId-000000000000", null), new SequenceNumber("LATEST_SEQUENCE_NUM", -1)));
            } else {
                String half = "170141183460469231731687303715884105728", all = "340282366920938463463374607431768211455";
                state.add(new Tuple2<>(shard("clicks", 1, half, all, null, "49600000000000000000000000000000000000000000000000000099"), new SequenceNumber("SHARD_ENDING_SEQUENCE_NUM", -1)));
                state.add(new Tuple2<>(shard("clicks", 3, half, all, null, null), new SequenceNumber("EARLIEST_SEQUENCE_NUM", -1)));
            }
        }
    }
    public static void main(String[] a) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(2, new Configuration());
        env.addSource(new Source(a[0])).name("Custom Source").uid(a[0].equals("kafka") ? "old-kafka" : "kinesis").addSink(new DiscardingSink<>());
        JobClient client = env.executeAsync(a[0]);
        Thread.sleep(4000);
        System.out.println("SAVED " + client.stopWithSavepoint(false, "file://" + a[1], SavepointFormatType.CANONICAL).get());
        System.exit(0);
    }
}
