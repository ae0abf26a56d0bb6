// java -cp <Kafka's jars> ToolRunner.java
// Runs Kafka's command-line tools one after another in this one JVM, as their shell scripts would in one each.
// A request is a line: class name, standard input, seconds, arguments, each in base64, with spaces between.
// Its answer is a line: exit status, standard output, standard error, the last two in base64.
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.utils.Exit;

public class ToolRunner {
    /** Instead of the end of the process. */
    static class Ended extends Error {
        Ended(int status) {
            super("exit status " + status, null, false, false);
        }
    }

    /** What System.out and System.err are from the beginning: Scala remembers the first that it sees. */
    static class Switch extends OutputStream {
        volatile ByteArrayOutputStream to = new ByteArrayOutputStream();

        @Override
        public void write(int b) {
            to.write(b);
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            to.write(bytes, from, length);
        }
    }

    static final int STUCK = 124;
    static final Switch OUT = new Switch();
    static final Switch ERR = new Switch();
    static final List<Runnable> HOOKS = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(new PrintStream(OUT, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(ERR, true, StandardCharsets.UTF_8));
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        answers.println("ready");
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = Arrays.stream(line.split(" ")).map(ToolRunner::decoded).toArray(String[]::new);
            int status = run(words[0], words[1], Double.parseDouble(words[2]), Arrays.copyOfRange(words, 3, words.length));
            answers.println(status + " " + encoded(OUT.to) + " " + encoded(ERR.to));
        }
        Runtime.getRuntime().halt(0);
    }

    static int run(String name, String input, double seconds, String[] arguments) throws Exception {
        OUT.to = new ByteArrayOutputStream();
        ERR.to = new ByteArrayOutputStream();
        HOOKS.clear();
        System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
        AtomicInteger status = new AtomicInteger(-1);
        Exit.Procedure end = (code, message) -> {
            status.compareAndSet(-1, code);
            throw new Ended(code);
        };
        Exit.setExitProcedure(end);
        Exit.setHaltProcedure(end);
        Exit.setShutdownHookAdder((hook, body) -> HOOKS.add(body));
        Thread tool = new Thread(() -> call(name, arguments, status), name);
        tool.setDaemon(true);
        tool.start();
        tool.join((long) (seconds * 1000));
        if (tool.isAlive()) {
            status.set(STUCK);
            for (StackTraceElement element : tool.getStackTrace()) {
                System.err.println("stuck at " + element);
            }
        }
        for (Runnable hook : new ArrayList<>(HOOKS)) {
            try {
                hook.run();
            } catch (Throwable error) {
                System.err.println("at the end: " + error);
            }
        }
        System.out.flush();
        System.err.flush();
        return status.get();
    }

    static void call(String name, String[] arguments, AtomicInteger status) {
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) arguments);
            status.compareAndSet(-1, 0);
        } catch (InvocationTargetException error) {
            if (status.compareAndSet(-1, 1)) {
                error.getCause().printStackTrace();
            }
        } catch (Throwable error) {
            status.compareAndSet(-1, 1);
            error.printStackTrace();
        }
    }

    static String decoded(String word) {
        return new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8);
    }

    static String encoded(ByteArrayOutputStream bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }
}
