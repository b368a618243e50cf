import { answerQuestions } from './ask-worker.ts';
import type { Device } from '../../src/device/device.ts';
import { compareOperator } from '../../src/device/testing/compare-operator.ts';
import { differentBytes } from '../../src/device/testing/different-bytes.ts';
import { distributorOf } from '../../src/device/wasm/parts/distributor.ts';
import type { StartPart } from '../../src/device/wasm/parts/part-protocol.ts';
import { CONTROL } from '../../src/device/wasm/threads/thread-control.ts';
import type { StartThread } from '../../src/device/wasm/threads/thread-pool.ts';
import { sharedThreads } from '../../src/device/wasm/threads/shared-threads.ts';
import { createWasmDevice } from '../../src/device/wasm/wasm-device.ts';
import { KERNEL_OPS } from '../../src/ops/tables/kernel-ops.ts';
import { withCases } from '../../src/ops/testing/tested-ops.ts';
import { hasRole } from '../../src/worker/devices/own-thread.ts';
import { serveAsWasmThread, WASM_THREAD_NAME } from '../../src/worker/devices/wasm-thread-role.ts';
import { wasmPartStarter, wasmThreadStarter } from '../../src/worker/devices/wasm-thread.ts';

/** The cases of all operators on the wasm device. */
export interface OperatorFindings {
  /** A line for each case that gives something else than the reference. */
  readonly differences: readonly string[];
  /** A line for each case that gives other bits with two threads. */
  readonly changed: readonly string[];
  readonly operatorCount: number;
  /** Threads of the second device, and parts of steps that the one beside this did. */
  readonly threads: number;
  readonly runs: number;
}

/** The kind of device to check. */
export interface OperatorRequest {
  readonly relaxedSimd: boolean;
  /** Gives threads memories of their own; otherwise they share one. */
  readonly isApart: boolean;
}

interface WatchedDevice {
  readonly device: Device;
  /** Parts of steps that the thread beside this one did. */
  readonly runs: () => number;
}

function openShared(relaxedSimd: boolean): WatchedDevice {
  const controls: Int32Array[] = [];
  const start = wasmThreadStarter();
  const startThread: StartThread = (given, onError) => {
    controls.push(new Int32Array(given.control));
    return start(given, onError);
  };
  return {
    device: createWasmDevice({
      relaxedSimd,
      createThreads: sharedThreads({ threads: 2, startThread, sharesAll: true }),
    }),
    runs: () => controls.reduce((sum, control) => sum + Atomics.load(control, CONTROL.runs), 0),
  };
}

function openApart(relaxedSimd: boolean): WatchedDevice {
  let runs = 0;
  const start = wasmPartStarter();
  const startPart: StartPart = ({ onMessage, onError }) =>
    start({
      onMessage(message) {
        if (message.kind === 'done' && message.bytes !== undefined) runs++;
        onMessage(message);
      },
      onError,
    });
  const createDistributor = distributorOf({ threads: 2, startPart, sharesAll: true });
  return { device: createWasmDevice({ relaxedSimd, createDistributor }), runs: () => runs };
}

async function check({ relaxedSimd, isApart }: OperatorRequest): Promise<OperatorFindings> {
  const alone = createWasmDevice({ relaxedSimd });
  const { device: shared, runs } = isApart ? openApart(relaxedSimd) : openShared(relaxedSimd);
  const ops = [...KERNEL_OPS.values()].map(withCases);
  const [differences, changed]: [string[], string[]] = [[], []];
  for (const op of ops) {
    const compared = await compareOperator(alone, op);
    differences.push(...compared.differences.map((line) => `${op.name}, ${line}`));
    const changes = await differentBytes(op, shared, alone);
    changed.push(...changes.map((line) => `${op.name}, ${line}`));
  }
  const { threads = 1 } = shared.info;
  const findings = { differences, changed, operatorCount: ops.length, threads, runs: runs() };
  shared.destroy();
  alone.destroy();
  return findings;
}

/** What a worker of the cases does, and the threads that it starts. */
export function serveOperators(): void {
  if (hasRole(WASM_THREAD_NAME)) serveAsWasmThread();
  else answerQuestions(check);
}
