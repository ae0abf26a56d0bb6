/** Typical hosts as operators see them: one whose brokers have not followed it, one where they do. */
import { AT, event, listed } from "./samples";
import { platformHost } from "./samples-administration";
import { delivery, destination, hostAlert } from "./samples-alerts";
import { hostDirectory } from "./samples-directories";
import type { Answers } from "./server";

const PATH = "GET /api/v1/operator/hosts";
/** Its brokers advertise another address than it has. */
const moved = platformHost({
  address: "10.0.0.9",
  capacity: {
    ...platformHost().capacity,
    directories: [hostDirectory(), hostDirectory({ name: "fast", problem: "Its disk is not mounted." })],
  },
});
const followed = {
  ...moved,
  host_id: "host-2",
  takes_brokers: false,
  takes_none_because: "It has too little.",
  takes_none_because_code: "no-disk",
  takes_none_because_params: { free_gib: 0.5, wanted_gib: 1 },
  address_change: {
    ...{ address: "10.0.0.9", by: "user:ada", began_at: AT, ended_at: null, clusters_moved: 1, brokers_left: 1 },
    ...{ operation_id: "op_1", about: "orders", waiting_for: "It waits." },
    waiting_for_parts: [
      { code: "serves-elsewhere", params: { serves: "10.0.0.1", address: "10.0.0.9" }, text: "It waits." },
    ],
  },
  zookeeper: { ...moved.zookeeper, connect: "10.0.2.4:2181", brokers_elsewhere: 1 },
  zookeeper_change: {
    ...{ connect: "10.0.2.4:2181", by: "user:ada", began_at: AT, ended_at: null, clusters_moved: 1, brokers_left: 1 },
    ...{ operation_id: "op_2", about: "orders", waiting_for: "orders: failed" },
    waiting_for_parts: [
      { code: "lead/about", params: { about: "orders" }, text: "orders:" },
      { code: "operation-ended", params: { state: "failed" }, text: "failed" },
    ],
  },
};

export const HOSTS: Answers = {
  "GET /api/v1/operator/alerts": listed([hostAlert(), hostAlert({ id: "al_h2", host_id: null })]),
  "GET /api/v1/operator/destinations": listed([destination()]),
  "GET /api/v1/operator/deliveries": listed([delivery()]),
  [PATH]: { data: [moved, followed] },
  ...Object.fromEntries(
    [moved, followed].flatMap((host) => [
      [`${PATH}/${host.host_id}`, host],
      [`${PATH}/${host.host_id}/events`, listed([event({ action: "host.cordon", reason: "a new disk" })])],
    ]),
  ),
};
