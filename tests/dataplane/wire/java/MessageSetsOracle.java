import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Scanner;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;

/** Message sets as Kafka's own client writes them, and what it reads in those of others. */
public class MessageSetsOracle {
    private static final String[] CODECS = {"none", "gzip", "snappy", "lz4"};

    public static void main(String[] args) {
        if (args[0].equals("write")) {
            for (byte magic = 0; magic < 2; magic++) {
                for (String codec : CODECS) {
                    System.out.println(magic + " " + codec + " " + encoded(magic, codec));
                }
            }
            return;
        }
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            System.out.println(read(Base64.getDecoder().decode(lines.nextLine())));
        }
    }

    private static String encoded(byte magic, String codec) {
        Compression compression = Compression.of(CompressionType.forName(codec)).build();
        MemoryRecordsBuilder builder = MemoryRecords.builder(
            ByteBuffer.allocate(4096), magic, compression, TimestampType.CREATE_TIME, 0L);
        long time = magic == 0 ? RecordBatch.NO_TIMESTAMP : 1000L;
        builder.append(time, "key".getBytes(), "value".repeat(40).getBytes());
        builder.append(magic == 0 ? time : 1007L, null, "x".getBytes());
        builder.append(magic == 0 ? time : 999L, "k".getBytes(), (byte[]) null);
        ByteBuffer buffer = builder.build().buffer();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static String read(byte[] set) {
        StringBuilder out = new StringBuilder();
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(set)).batches()) {
            batch.ensureValid();
            for (Record record : batch) {
                record.ensureValid();
                out.append(batch.magic()).append(' ').append(batch.timestampType()).append(' ')
                    .append(record.offset()).append(' ').append(record.timestamp()).append(' ')
                    .append(hex(record.key())).append(' ').append(hex(record.value())).append(';');
            }
        }
        return out.toString();
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return "null";
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return "x" + new java.math.BigInteger(1, copy).toString(16);
    }
}
