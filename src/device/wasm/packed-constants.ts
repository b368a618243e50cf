import { OutOfMemoryError } from '../../core/errors.ts';
import type { DeviceTensor } from '../device.ts';
import type { ValuePack } from './step-plan.ts';
import type { WasmCode } from './wasm-code.ts';
import { asWasmBuffer, type WasmBuffer, type WasmMemory } from './wasm-memory.ts';

/** Constants of one buffer, by their place in it and by layout. */
type PackedOfBuffer = Map<string, WasmBuffer>;

/** Constants in the layouts that kernels read, for as long as their buffers live. */
export class PackedConstants {
  readonly #memory: WasmMemory;
  readonly #packed = new WeakMap<WasmBuffer, PackedOfBuffer>();
  /** Found again without a key. */
  readonly #latest = new WeakMap<ValuePack, Found>();

  constructor(memory: WasmMemory) {
    this.#memory = memory;
  }

  /** The address of a constant in a layout; undefined where there is no memory for it. */
  find(tensor: DeviceTensor, pack: ValuePack, code: WasmCode): number | undefined {
    const buffer = asWasmBuffer(tensor.buffer);
    const { byteOffset } = tensor;
    const latest = this.#latest.get(pack);
    if (latest?.buffer === buffer && latest.byteOffset === byteOffset) return latest.address;
    const ofBuffer = this.#packed.get(buffer) ?? this.#listen(buffer);
    const key = `${byteOffset} ${pack.layout}`;
    let made = ofBuffer.get(key);
    if (made === undefined) {
      made = this.#create(pack.byteLength);
      if (made === undefined) return undefined;
      code(buffer.begin + byteOffset, made.begin);
      ofBuffer.set(key, made);
    }
    this.#latest.set(pack, { buffer, byteOffset, address: made.begin });
    return made.begin;
  }

  #listen(buffer: WasmBuffer): PackedOfBuffer {
    const made: PackedOfBuffer = new Map();
    this.#packed.set(buffer, made);
    buffer.onDestroy.add(() => {
      for (const packed of made.values()) packed.destroy();
    });
    return made;
  }

  #create(byteLength: number): WasmBuffer | undefined {
    try {
      return this.#memory.create(byteLength);
    } catch (error) {
      if (error instanceof OutOfMemoryError) return undefined;
      throw error;
    }
  }
}

interface Found {
  readonly buffer: WasmBuffer;
  readonly byteOffset: number;
  readonly address: number;
}
