import { OutOfMemoryError } from '../../../core/errors.ts';
import type { DeviceTensor, PrepackingBudget } from '../../device.ts';
import type { ValuePack } from '../step-plan.ts';
import type { WasmCode } from '../wasm-code.ts';
import { asWasmBuffer, type WasmBuffer, type WasmMemory } from './wasm-memory.ts';

/** Those of one buffer, by their place in it and by layout. */
type PackedOfBuffer = Map<string, PackedConstant>;

interface PackedConstant {
  readonly buffer: WasmBuffer;
  /** The budget that its bytes were taken from, and go back to. */
  readonly budget: PrepackingBudget;
}

/** Constants in the layouts that kernels read, for as long as their buffers live. */
export class PackedConstants {
  readonly #memory: WasmMemory;
  readonly #packed = new WeakMap<WasmBuffer, PackedOfBuffer>();
  /** Found again without a key. */
  readonly #latest = new WeakMap<ValuePack, Found>();

  constructor(memory: WasmMemory) {
    this.#memory = memory;
  }

  /** The address of a constant in a layout; undefined where the budget or the memory has no room for it. */
  find(tensor: DeviceTensor, { pack, code, budget }: ConstantPack): number | undefined {
    const buffer = asWasmBuffer(tensor.buffer);
    const { byteOffset } = tensor;
    const latest = this.#latest.get(pack);
    if (latest?.buffer === buffer && latest.byteOffset === byteOffset) return latest.address;
    const ofBuffer = this.#packed.get(buffer) ?? this.#listen(buffer);
    const key = `${byteOffset} ${pack.layout}`;
    let made = ofBuffer.get(key);
    if (made === undefined) {
      made = this.#create(pack.byteLength, budget);
      if (made === undefined) return undefined;
      const [from, to] = [buffer.begin + byteOffset, made.buffer.begin];
      this.#memory.submit(() => code(from, to));
      ofBuffer.set(key, made);
    }
    const address = made.buffer.begin;
    this.#latest.set(pack, { buffer, byteOffset, address });
    return address;
  }

  #listen(buffer: WasmBuffer): PackedOfBuffer {
    const made: PackedOfBuffer = new Map();
    this.#packed.set(buffer, made);
    buffer.onDestroy.add(() => {
      for (const packed of made.values()) {
        packed.buffer.destroy();
        packed.budget.reserve(-packed.buffer.byteLength);
      }
    });
    return made;
  }

  #create(byteLength: number, budget: PrepackingBudget): PackedConstant | undefined {
    if (!budget.reserve(byteLength)) return undefined;
    try {
      return { buffer: this.#memory.create(byteLength), budget };
    } catch (error) {
      budget.reserve(-byteLength);
      if (error instanceof OutOfMemoryError) return undefined;
      throw error;
    }
  }
}

/** How a step packs one operand, where it is a constant. */
export interface ConstantPack {
  readonly pack: ValuePack;
  readonly code: WasmCode;
  readonly budget: PrepackingBudget;
}

interface Found {
  readonly buffer: WasmBuffer;
  readonly byteOffset: number;
  readonly address: number;
}
