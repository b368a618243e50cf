// Finds the broker that the fleet's tests start.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the install script unpacks one. */
const UNPACKED = fileURLToPath(
  new URL('../../../../.weft-cache/nats-server/usr/sbin/nats-server', import.meta.url),
);

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Path of a nats-server, or undefined. `WEFT_NATS_SERVER` comes first. */
export function findNatsServer() {
  const wanted = process.env.WEFT_NATS_SERVER;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'];
  const known = folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'nats-server'));
  return [...(wanted === undefined ? [] : [wanted]), ...known, UNPACKED].find(isExecutable);
}
