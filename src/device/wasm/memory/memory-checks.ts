import { storageByteLength } from '../../../core/tensor/dtype.ts';
import { internalError } from '../../../core/errors.ts';
import type { ConcreteTensorType } from '../../../core/contracts/primitive-function.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import type { WasmCode } from '../wasm-code.ts';

/** Ranges that the running step may access. With checks on, each load and store calls `check`. */
export class MemoryChecks {
  /** The begin and the end of each range, one range after the other. */
  readonly #ranges: number[] = [];
  /** How many accesses were checked. */
  count = 0;

  /** Allows no range any more. */
  clear(): void {
    this.#ranges.length = 0;
  }

  /** Address 0 is no buffer's. */
  allow(address: number, byteLength: number): void {
    if (address === 0) return;
    this.#ranges.push(address, address + byteLength);
  }

  allowTensor(address: number | undefined, type: ConcreteTensorType | undefined): void {
    if (address === undefined || type === undefined) return;
    this.allow(address, storageByteLength(type.dtype, elementCount(type.shape)));
  }

  /** A pack, which may access what it makes. */
  around(pack: WasmCode, byteLength: number): WasmCode {
    return (from = 0, to = 0) => {
      this.allow(to, byteLength);
      pack(from, to);
    };
  }

  /** Called by modules: gives the address back, or throws. */
  readonly check = (address: number, offset: number, byteLength: number): number => {
    this.count++;
    const begin = (address >>> 0) + (offset >>> 0);
    const ranges = this.#ranges;
    for (let i = 0; i < ranges.length; i += 2) {
      if (begin >= (ranges[i] ?? 0) && begin + byteLength <= (ranges[i + 1] ?? 0)) return address;
    }
    throw internalError(`${byteLength} bytes at ${begin}, outside the ranges ${ranges.join()}`);
  };
}
