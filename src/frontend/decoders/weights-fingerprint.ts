import { constant, func } from '../../compiler/ir/build.ts';
import type { FunctionExpr, Module } from '../../compiler/ir/expr.ts';
import { postOrder } from '../../compiler/ir/walk/visit.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';

/** Bytes of each constant that count, at its begin, in its middle and at its end: weights may lie in files that are long to read. */
const SAMPLE = 1024;

/** A function that gives two words, uint32 (2,), which tell the constants of a module from those of another. */
export function weightsFingerprint({ functions }: Module): FunctionExpr {
  const [left, right] = [new Hash(0x811c9dc5), new Hash(0x01000193)];
  for (const [name, { body }] of functions) {
    for (const expr of postOrder(body)) {
      if (expr.kind !== 'constant') continue;
      const { value } = expr;
      const text = new TextEncoder().encode(`${name} ${value.dtype} ${value.shape.join()}`);
      const last = Math.max(value.storedByteLength - SAMPLE, 0);
      const samples = [0, Math.floor(last / 2), last].map((offset) =>
        value.storedBytes(offset, Math.min(SAMPLE, value.storedByteLength)),
      );
      for (const hash of [left, right]) for (const bytes of [text, ...samples]) hash.add(bytes);
    }
  }
  const words = HostTensor.from('uint32', [2], [left.value, right.value]);
  return func([], constant(words), { resultNames: ['fingerprint'] });
}

/** The hash FNV-1a, of 32 bits. */
class Hash {
  #value: number;

  constructor(start: number) {
    this.#value = start;
  }

  get value(): number {
    return this.#value >>> 0;
  }

  add(bytes: Uint8Array): void {
    for (const byte of bytes) this.#value = Math.imul(this.#value ^ byte, 0x01000193);
  }
}
