import { DeviceError } from '../../../core/errors.ts';
import { encodeModule, type MemoryLimits } from '../../../wasm/encode-module.ts';
import { widenAddresses } from '../../../wasm/widen-addresses.ts';
import { PAGE } from './address-space.ts';
import type { StepPlan } from '../step-plan.ts';

/** 16 GiB, the most that engines give. */
const MOST_WIDE_PAGES = 2 ** 18;

/**
 * Memory with addresses of 64 bits, for machines with more than 4 GiB of tensors. Its code takes longer: the
 * engine checks each access. Threads cannot share it, since their orders hold addresses of 32 bits.
 */
export interface Memory64 {
  /** The most bytes of all buffers together. */
  readonly maxByteLength: number;
  /** Within a buffer, kernels count bytes by signed i32. */
  readonly maxBufferByteLength: number;
  /** The limits that modules import the memory with. */
  readonly limits: Partial<MemoryLimits>;
  /** Throws DeviceError where the engine has none. */
  create(): WebAssembly.Memory;
  /** Throws RangeError where the engine has no more. */
  grow(memory: WebAssembly.Memory, pages: number): void;
  /** A step with addresses of i64, given as float64. */
  widen(plan: StepPlan): StepPlan;
}

/** Types of TypeScript know neither its constructor nor how it grows yet. */
type Constructor = new (limits: {
  readonly address: 'i64';
  readonly initial: bigint;
  readonly maximum: bigint;
}) => WebAssembly.Memory;

interface GrownByBigInt {
  grow(pages: bigint): bigint;
}

export const MEMORY64: Memory64 = {
  maxByteLength: (MOST_WIDE_PAGES - 2) * PAGE,
  maxBufferByteLength: 2 ** 31 - PAGE,
  limits: { maximum: MOST_WIDE_PAGES, address: 'i64' },
  create() {
    if (!hasMemory64()) throw unavailable();
    try {
      const Memory: unknown = WebAssembly.Memory;
      const limits = { address: 'i64', initial: 1n, maximum: BigInt(MOST_WIDE_PAGES) } as const;
      return new (Memory as Constructor)(limits);
    } catch (cause) {
      throw unavailable(cause);
    }
  },
  grow(memory, pages) {
    const wide: unknown = memory;
    (wide as GrownByBigInt).grow(BigInt(pages));
  },
  widen: widenStep,
};

/** Returns true if the engine has memory with 64-bit addresses. */
export function hasMemory64(): boolean {
  return WebAssembly.validate(
    encodeModule({ groups: [], memory: { minimum: 1, ...MEMORY64.limits } }),
  );
}

function unavailable(cause?: unknown): DeviceError {
  return new DeviceError(
    {
      where: "device 'wasm'",
      got: 'an engine without Memory64',
      expected: 'WebAssembly with addresses of 64 bits',
      remedy: 'Use Chrome 133, Firefox 134, Node 24 or later.',
    },
    { cause },
  );
}

/** Its last parameters are the units to do; all others, and those of packs, are addresses. */
function widenStep(plan: StepPlan): StepPlan {
  const { functions, params, body } = plan;
  const entry = { name: 'step', params, body };
  const widened = [...widenAddresses([...functions, entry], params.slice(0, -2))];
  return {
    ...plan,
    ...(widened.pop() ?? entry),
    functions: widened,
    packs: plan.packs.map((pack) => ({
      ...pack,
      functions: widenAddresses(pack.functions, pack.functions.at(-1)?.params ?? []),
    })),
  };
}
