// What a run needs and does not find: packages, browsers, a broker. It says what it does and what that fetched.
import { existsSync, readFileSync } from 'node:fs';
import { installChromium } from '../install-chromium.mjs';
import { installWebkit } from '../find-webkit.mjs';
import { installDependencies } from '../install-dependencies.mjs';
import { installFirefox } from '../install-firefox.mjs';
import { installNatsServer } from '../install-nats-server.mjs';

/** Bytes that this machine received so far; undefined where the system does not count them in a file. */
function receivedBytes() {
  if (!existsSync('/proc/net/dev')) return undefined;
  return readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .map((line) => /^\s*([^:\s]+):\s*(\d+)/.exec(line))
    .filter((row) => row !== null && row[1] !== 'lo')
    .reduce((sum, row) => sum + Number(row[2]), 0);
}

/**
 * Installs what the stages need. Returns the seconds that it took and the bytes that came over the network
 * meanwhile (undefined: not counted here), or undefined where the packages cannot be installed.
 */
export function setUp(root, stages) {
  const startedAt = Date.now();
  const before = receivedBytes();
  if (!installDependencies(root)) return undefined;
  const needs = new Set(stages.flatMap(({ installs = [] }) => installs));
  if (needs.has('chromium')) installChromium(root);
  if (needs.has('firefox')) installFirefox(root);
  if (needs.has('webkit')) installWebkit(root);
  if (needs.has('nats-server')) installNatsServer(root);
  const after = receivedBytes();
  return {
    seconds: (Date.now() - startedAt) / 1000,
    bytes: before === undefined || after === undefined ? undefined : after - before,
  };
}

/** Set-up in a line: `set-up 12.3 s, 95.6 MB fetched`. */
export function setUpLine({ seconds, bytes }) {
  const fetched =
    bytes === undefined
      ? 'bytes are not counted on this system'
      : bytes < 1e5
        ? 'nothing fetched'
        : `${(bytes / 1e6).toFixed(1)} MB fetched`;
  return `set-up ${seconds.toFixed(1)} s, ${fetched}`;
}
