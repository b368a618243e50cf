import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';
import type { OnnxNodeSpec } from '../../src/testing/onnx-writer.ts';
import { seededRandom } from '../../src/core/random.ts';

interface EncoderSize {
  readonly layers: number;
  /** Of the sequence. */
  readonly length: number;
  readonly width: number;
  readonly heads: number;
}

interface Encoder {
  readonly input: readonly number[];
  readonly constants: Readonly<Record<string, HostTensor>>;
  readonly nodes: readonly OnnxNodeSpec[];
}

/**
 * An encoder after "Attention Is All You Need" (layer norm after the residual, an inner layer of
 * four widths, GELU by Erf), spelled out in operators as exporters do. `x` and `y` are
 * [1, length, width].
 */
export function buildEncoder(size: EncoderSize): Encoder {
  const writer = new EncoderWriter(size);
  let value = 'x';
  for (let layer = 0; layer < size.layers; layer++) value = writer.layer(value);
  writer.rename(value);
  return {
    input: [1, size.length, size.width],
    constants: writer.constants,
    nodes: writer.nodes,
  };
}

class EncoderWriter {
  readonly nodes: OnnxNodeSpec[] = [];
  readonly constants: Record<string, HostTensor> = {};
  readonly #size: EncoderSize;
  readonly #random = seededRandom(7);
  #count = 0;

  constructor(size: EncoderSize) {
    this.#size = size;
  }

  layer(x: string): string {
    const attended = this.#norm(this.#node('Add', [x, this.#attention(x)]));
    const { width } = this.#size;
    const inner = this.#gelu(this.#dense(attended, width, 4 * width));
    return this.#norm(this.#node('Add', [attended, this.#dense(inner, 4 * width, width)]));
  }

  rename(value: string): void {
    this.nodes.push({ op: 'Identity', inputs: [value], outputs: ['y'] });
  }

  #attention(x: string): string {
    const { length, width, heads } = this.#size;
    const split = this.#ints([1, length, heads, width / heads]);
    const head = (perm: readonly number[]): string => {
      const parts = this.#node('Reshape', [this.#dense(x, width, width), split]);
      return this.#node('Transpose', [parts], { perm });
    };
    const [q, k, v] = [head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])];
    const scores = this.#node('Mul', [
      this.#node('MatMul', [q, k]),
      this.#scalar(1 / Math.sqrt(width / heads)),
    ]);
    const mixed = this.#node('MatMul', [this.#node('Softmax', [scores], { axis: -1 }), v]);
    const together = this.#node('Transpose', [mixed], { perm: [0, 2, 1, 3] });
    const flat = this.#node('Reshape', [together, this.#ints([1, length, width])]);
    return this.#dense(flat, width, width);
  }

  #dense(x: string, from: number, to: number): string {
    const product = this.#node('MatMul', [x, this.#weight([from, to], 3.4 / Math.sqrt(from))]);
    return this.#node('Add', [product, this.#weight([to], 0.1)]);
  }

  #norm(x: string): string {
    const { width } = this.#size;
    const scale = this.#constant(HostTensor.splat('float32', [width], 1));
    return this.#node('LayerNormalization', [x, scale, this.#weight([width], 0.1)], { axis: -1 });
  }

  #gelu(x: string): string {
    const erf = this.#node('Erf', [this.#node('Div', [x, this.#scalar(Math.SQRT2)])]);
    const sum = this.#node('Add', [erf, this.#scalar(1)]);
    return this.#node('Mul', [this.#node('Mul', [x, sum]), this.#scalar(0.5)]);
  }

  #node(
    op: string,
    inputs: readonly string[],
    attributes: NonNullable<OnnxNodeSpec['attributes']> = {},
  ): string {
    const output = `v${this.#count++}`;
    this.nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  #constant(tensor: HostTensor): string {
    const name = `c${this.#count++}`;
    this.constants[name] = tensor;
    return name;
  }

  #weight(shape: readonly number[], scale: number): string {
    const length = elementCount(shape);
    const data = Float32Array.from({ length }, () => (this.#random() - 0.5) * scale);
    return this.#constant(new HostTensor('float32', shape, data));
  }

  #scalar(value: number): string {
    return this.#constant(HostTensor.from('float32', [], [value]));
  }

  #ints(values: readonly number[]): string {
    return this.#constant(HostTensor.from('int64', [values.length], values));
  }
}
