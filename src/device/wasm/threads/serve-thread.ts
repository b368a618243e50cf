import type { WasmCode } from '../wasm-code.ts';
import { CONTROL, MOST_ARGS, ORDERS, type ThreadStart } from './thread-control.ts';

/** Rounds of looking for an order before the thread sleeps: some tens of microseconds. */
const SPINS = 20_000;

/** Carries out the orders of a pool until it ends. Holds the thread all the time. */
export function serveThread(start: ThreadStart): void {
  const control = new Int32Array(start.control);
  const functions: WasmCode[] = [];
  let seen = 0;
  Atomics.add(control, CONTROL.ready, 1);
  for (;;) {
    seen = nextOrder(control, seen);
    const kind = Atomics.load(control, CONTROL.kind);
    if (kind === ORDERS.end) return;
    try {
      if (kind === ORDERS.load) load(start, control, functions);
      else run(start.index, control, functions);
    } catch {
      Atomics.store(control, CONTROL.failed, 1);
    }
    Atomics.add(control, CONTROL.done, 1);
    Atomics.notify(control, CONTROL.done);
  }
}

/** Its number, once there is one after `seen`. */
function nextOrder(control: Int32Array, seen: number): number {
  for (let i = 0; i < SPINS; i++) {
    const order = Atomics.load(control, CONTROL.order);
    if (order !== seen) return order;
  }
  for (;;) {
    Atomics.wait(control, CONTROL.order, seen);
    const order = Atomics.load(control, CONTROL.order);
    if (order !== seen) return order;
  }
}

function load({ memory }: ThreadStart, control: Int32Array, functions: WasmCode[]): void {
  const [address = 0, length = 0, count = 0] = control.subarray(CONTROL.first);
  // Engines compile no bytes that others may change.
  const bytes = new Uint8Array(memory.buffer, address >>> 0, length).slice();
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  for (let i = 0; i < count; i++) functions.push(exports[i] as WasmCode);
}

function run(index: number, control: Int32Array, functions: readonly WasmCode[]): void {
  const begin = CONTROL.args + index * MOST_ARGS;
  const count = control[CONTROL.count] ?? 0;
  functions[control[CONTROL.first] ?? -1]?.(...control.subarray(begin, begin + count));
  Atomics.add(control, CONTROL.runs, 1);
}
