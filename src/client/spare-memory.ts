/** All spare memory together. */
const KEPT_BYTE_LENGTH = 64 * 1024 * 1024;
/** Spare memory is given up when no run has ended for this long. */
const KEPT_MS = 5000;

/** To detach less takes longer than to get new memory: 12 microseconds for each run of a small model. */
export const LEAST_ROOM = 64 * 1024;

/** Memory of past inputs and results, the most recently used first. */
let spares: ArrayBuffer[] = [];
/** Memory of results that were disposed of; the results of the next run are written to it. */
let room: ArrayBuffer[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
/** The end of the last run, in milliseconds since the page began. */
let lastUse = 0;

/**
 * Keeps memory that nobody uses, for inputs and results of later runs: a system hands new memory out
 * page by page, which takes longer than to copy into it.
 */
export function keepSpares(buffers: readonly ArrayBuffer[]): void {
  let byteLength = 0;
  spares = [...buffers, ...spares].filter(
    (buffer) => (byteLength += buffer.byteLength) <= KEPT_BYTE_LENGTH,
  );
  lastUse = performance.now();
  timer ??= setTimeout(giveUp, KEPT_MS);
}

/** One timer for many runs: to set one takes longer than the rest. */
function giveUp(): void {
  const left = lastUse + KEPT_MS - performance.now();
  timer = left > 0 ? setTimeout(giveUp, left) : undefined;
  if (left > 0) return;
  spares = [];
  room = [];
}

/** Memory of `byteLength` bytes, or up to twice as many, that nobody else has. */
export function takeSpare(byteLength: number): ArrayBuffer | undefined {
  const index = spares.findIndex(
    (spare) => byteLength <= spare.byteLength && spare.byteLength <= 2 * byteLength,
  );
  return index < 0 ? undefined : spares.splice(index, 1)[0];
}

/** {@link room}, which is then empty; what a run does not need is spare. */
export const takeRoom = (): ArrayBuffer[] => room.splice(0);

/** Takes the memory of a result. */
export function keepRoom(buffer: ArrayBuffer): void {
  room.push(structuredClone(buffer, { transfer: [buffer] }));
  keepSpares([]);
}
