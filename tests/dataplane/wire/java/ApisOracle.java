import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiKeys;

/** The APIs of a broker in ZooKeeper mode: key, name, versions, the first one that is flexible. */
public class ApisOracle {
    public static void main(String[] args) {
        for (ApiKeys api : ApiKeys.apisForListener(ApiMessageType.ListenerType.ZK_BROKER)) {
            short flexible = Short.MAX_VALUE;
            for (short version = api.latestVersion(true); version >= api.oldestVersion(); version--) {
                if (api.messageType.requestHeaderVersion(version) >= 2) {
                    flexible = version;
                }
            }
            System.out.println(
                api.id + " " + api.messageType.name() + " " + api.oldestVersion() + " "
                + api.latestVersion(false) + " " + flexible);
        }
    }
}
