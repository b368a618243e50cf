import { FormatError } from '../../core/errors.ts';
import { alignTensor } from './data-layout.ts';
import type { ExecutableData } from '../executable.ts';

/** Checks that the bytes between tensors are zero, while the data section passes by in order. */
export class DataPadding {
  readonly #program: ExecutableData;
  /** The first constant whose padding has not passed by whole. */
  #next = 0;

  /** The program has been verified. */
  constructor(program: ExecutableData) {
    this.#program = program;
  }

  /** Checks the next piece of the data section. Throws FormatError. */
  check(bytes: Uint8Array, byteOffset: number): void {
    const { constants, dataByteLength } = this.#program;
    for (; this.#next < constants.length; this.#next++) {
      const constant = constants[this.#next];
      if (constant?.kind !== 'tensor') continue;
      const start = constant.byteOffset + constant.byteLength;
      const end = Math.min(alignTensor(start), dataByteLength);
      const piece = bytes.subarray(Math.max(0, start - byteOffset), Math.max(0, end - byteOffset));
      if (piece.some((byte) => byte !== 0)) {
        throw new FormatError({
          where: `data section, byte ${start}`,
          got: 'padding after a tensor that is not zero',
          expected: 'zeros',
        });
      }
      if (end > byteOffset + bytes.length) return;
    }
  }
}
