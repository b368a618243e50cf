import type { Expr } from '../../../compiler/ir/expr.ts';
import { floats } from './parts/tensor-calls.ts';
import type { Matrix } from './parts/weight.ts';

/** The weights of a decoder, by the names of GGUF. */
export class DecoderWeights {
  readonly #vectors = new Map<string, Float32Array>();
  readonly #matrices = new Map<string, Matrix>();

  addVector(name: string, values: Float32Array): void {
    this.#vectors.set(name, values);
  }

  addMatrix(name: string, matrix: Matrix): void {
    this.#matrices.set(name, matrix);
  }

  has(name: string): boolean {
    return this.#vectors.has(name) || this.#matrices.has(name);
  }

  matrix(name: string): Matrix {
    const matrix = this.#matrices.get(name);
    if (matrix === undefined) throw new Error(`internal: no matrix ${name}`);
    return matrix;
  }

  vector(name: string): Expr {
    const vector = this.optionalVector(name);
    if (vector === undefined) throw new Error(`internal: no vector ${name}`);
    return vector;
  }

  optionalVector(name: string): Expr | undefined {
    const values = this.#vectors.get(name);
    return values && floats([values.length], values);
  }

  values(name: string): Float32Array {
    const values = this.#vectors.get(name);
    if (values === undefined) throw new Error(`internal: no vector ${name}`);
    return values;
  }
}
