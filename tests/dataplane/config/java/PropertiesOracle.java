import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.Properties;
import java.util.TreeMap;

/**
 * What java.util.Properties makes of a text, line by line from standard input.
 *
 * A line is "load", "store" or "store-ascii" and fields; every field is UTF-16 code units, four
 * hexadecimal digits each, after a "." so that an empty one is seen. "load TEXT" answers the pairs
 * in the order of their keys or "error"; "store KEY VALUE ..." answers the file that Java writes,
 * without its comment.
 */
public class PropertiesOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "US-ASCII"));
        PrintStream out = new PrintStream(System.out, true, "US-ASCII");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            out.println(words[0].equals("load") ? load(decode(words[1])) : store(words));
        }
    }

    private static String load(String text) throws Exception {
        Properties read = new Properties();
        try {
            read.load(new StringReader(text));
        } catch (IllegalArgumentException error) {
            return "error";
        }
        TreeMap<String, String> sorted = new TreeMap<>();
        read.forEach((key, value) -> sorted.put((String) key, (String) value));
        StringBuilder answer = new StringBuilder("ok");
        sorted.forEach((key, value) ->
            answer.append(' ').append(encode(key)).append(' ').append(encode(value)));
        return answer.toString();
    }

    private static String store(String[] words) throws Exception {
        Properties kept = new Properties();
        for (int at = 1; at < words.length; at += 2) {
            kept.setProperty(decode(words[at]), decode(words[at + 1]));
        }
        String text;
        if (words[0].equals("store-ascii")) {
            java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
            kept.store(bytes, null);
            text = bytes.toString("ISO-8859-1");
        } else {
            StringWriter writer = new StringWriter();
            kept.store(writer, null);
            text = writer.toString();
        }
        return "ok " + encode(text.substring(text.indexOf('\n') + 1));
    }

    private static String decode(String field) {
        StringBuilder text = new StringBuilder();
        for (int at = 1; at < field.length(); at += 4) {
            text.append((char) Integer.parseInt(field.substring(at, at + 4), 16));
        }
        return text.toString();
    }

    private static String encode(String text) {
        StringBuilder field = new StringBuilder(".");
        for (char unit : text.toCharArray()) {
            field.append(String.format("%04X", (int) unit));
        }
        return field.toString();
    }
}
