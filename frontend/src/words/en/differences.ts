/** What is not as it was left, by the code of the sentence, as templates (`lib/templates.ts`): a test holds this to the service's. */
export const differences = {
  "acl/added": "The rule “{rule}” is not there; the last verified operation added it.",
  "acl/removed": "The rule “{rule}” is there; the last verified operation removed it.",
  "broker/away":
    "Broker {broker} should run on {host} and is not in the cluster{said:unknown=|other=; its host says: #}.",
  "broker/shown":
    "Broker {broker} shows the {field:host=host|port=port|rack=rack} {observed:unknown=none|other=#} to clients; it was placed with {desired:unknown=none|other=#}.",
  "quota/client":
    "{key} of {client:unknown=every client id|other=client id #} is {observed:unknown=not set}; the last verified operation {desired:unknown=took it away|other=left #}.",
  "quota/client-of-user":
    "{key} of {client:unknown=every client id|other=client id #} of {user:unknown=every user|other=user #} is {observed:unknown=not set}; the last verified operation {desired:unknown=took it away|other=left #}.",
  "quota/user":
    "{key} of {user:unknown=every user|other=user #} is {observed:unknown=not set}; the last verified operation {desired:unknown=took it away|other=left #}.",
  "replicas/brokers":
    "{topic} is on other brokers than the last verified reassignment left: partition {where}{more:none=|one= and # more partition|other= and # more partitions}.",
  "replicas/leaders":
    "{topic} prefers other leaders than the last verified reassignment left: partition {where}{more:none=|one= and # more partition|other= and # more partitions}.",
  "replicas/racks":
    "Replicas of {topic} share a rack that could be in {most}: partition {where}{more:none=|one= and # more partition|other= and # more partitions}. If that rack is lost, more of them are lost than need be.",
  setting: "{key} is {observed:unknown=not set}; {desired:unknown=nobody set it|other=it was left at #}.",
  "setting/own":
    "{key} is {observed:unknown=not set} (of broker {brokers}{more:none=|other= and # more} alone); {desired:unknown=nobody set it|other=it was left at #}.",
  topic:
    "{field} is {observed:unknown=not set} at the brokers; the last verified operation {desired:unknown=set nothing|other=left #}.",
  user: "The user {name} has {observed:unknown=no login|other=a login by #}; the last verified operation left {desired:unknown=no login|other=a login by #}.",
};
