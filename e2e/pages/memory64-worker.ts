import { answerQuestions } from './ask-worker.ts';
import { compareOperator } from '../../src/device/testing/compare-operator.ts';
import { differentBytes } from '../../src/device/testing/different-bytes.ts';
import { MEMORY64, type Memory64 } from '../../src/device/wasm/memory/memory64.ts';
import { MemoryChecks } from '../../src/device/wasm/memory/memory-checks.ts';
import { createWasmDevice } from '../../src/device/wasm/wasm-device.ts';
import { asWasmBuffer } from '../../src/device/wasm/memory/wasm-memory.ts';
import { KERNEL_OPS } from '../../src/ops/tables/kernel-ops.ts';
import { withCases } from '../../src/ops/testing/tested-ops.ts';

/** The cases of all operators at addresses of 64 bits. */
export interface Memory64Findings {
  /** A line for each case that gives other bytes than at addresses of 32 bits. */
  readonly changed: readonly string[];
  /** A line for each case that gives something else than the reference, or accesses what it must not. */
  readonly differences: readonly string[];
  readonly operatorCount: number;
  /** Loads and stores that were checked. */
  readonly accessCount: number;
  /** The lowest address of all. */
  readonly firstAddress: number;
}

/** Memory that nobody writes to before the first buffer. */
const UNUSED_PAGES = 81_920;

/**
 * Bytes that buffers have in the page in front of the unused ones: a buffer of this size fills it.
 */
const FIRST_PAGE = 65_536 - 64;

/** The memory of {@link MEMORY64}, with all buffers behind the first 5 GiB. */
const FAR: Memory64 = {
  ...MEMORY64,
  create() {
    const memory = MEMORY64.create();
    MEMORY64.grow(memory, UNUSED_PAGES);
    return memory;
  },
};

async function check(): Promise<Memory64Findings> {
  const checks = new MemoryChecks();
  const narrow = createWasmDevice();
  const wide = createWasmDevice({ memory64: FAR });
  const checked = createWasmDevice({ memory64: FAR, checks });
  for (const device of [wide, checked]) device.createBuffer(FIRST_PAGE);
  const ops = [...KERNEL_OPS.values()].map(withCases);
  const [changed, differences]: [string[], string[]] = [[], []];
  for (const op of ops) {
    const changes = await differentBytes(op, wide, narrow);
    changed.push(...changes.map((line) => `${op.name}, ${line}`));
    const compared = await compareOperator(checked, op);
    differences.push(...compared.differences.map((line) => `${op.name}, ${line}`));
  }
  const { begin: firstAddress } = asWasmBuffer(wide.createBuffer(1024));
  for (const device of [narrow, wide, checked]) device.destroy();
  const accessCount = checks.count;
  return { changed, differences, operatorCount: ops.length, accessCount, firstAddress };
}

answerQuestions(check);
