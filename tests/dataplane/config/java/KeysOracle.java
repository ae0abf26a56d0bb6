import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import org.apache.kafka.common.config.ConfigDef;

/** Prints what Kafka's own classes know of its keys: type, default, bounds, how each may change. */
public class KeysOracle {
    public static void main(String[] args) throws Exception {
        Map<String, Object> answer = new TreeMap<>();
        answer.put("broker", keys(kafka.server.KafkaConfig$.MODULE$.configDef(), true));
        answer.put("topic", keys(new ConfigDef(org.apache.kafka.storage.internals.log.LogConfig.configDefCopy()), false));
        ObjectMapper mapper = new ObjectMapper();
        mapper.enable(SerializationFeature.INDENT_OUTPUT);
        System.out.println(mapper.writeValueAsString(answer));
    }

    private static Map<String, Object> keys(ConfigDef definition, boolean broker) {
        Map<String, String> modes = new TreeMap<>();
        if (broker) {
            modes.putAll(kafka.server.DynamicBrokerConfig$.MODULE$.dynamicConfigUpdateModes());
        }
        Map<String, Object> found = new TreeMap<>();
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            Map<String, Object> facts = new TreeMap<>();
            facts.put("type", key.type.name());
            facts.put("default", key.hasDefault() ? ConfigDef.convertToString(key.defaultValue, key.type) : null);
            facts.put("required", !key.hasDefault());
            facts.put("allowed", key.validator == null ? null : key.validator.toString());
            facts.put("internal", key.internalConfig);
            if (broker) {
                facts.put("changes", modes.getOrDefault(key.name, "read-only"));
                facts.put("synonyms", synonyms(key.name));
            }
            found.put(key.name, facts);
        }
        return found;
    }

    private static List<String> synonyms(String name) {
        List<String> found = new ArrayList<>();
        scala.collection.Iterator<String> each = kafka.server.DynamicBrokerConfig$.MODULE$.brokerConfigSynonyms(name, true).iterator();
        while (each.hasNext()) {
            found.add(each.next());
        }
        return found;
    }
}
