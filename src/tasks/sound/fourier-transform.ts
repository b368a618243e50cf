/**
 * The discrete Fourier transform of real numbers, of any length: by its prime factors (Cooley and Tukey 1965), so a length of small
 * factors, such as 400 or 512, is fast.
 */
export class FourierTransform {
  readonly length: number;
  readonly #factors: readonly number[];
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  readonly #partReal: Float64Array;
  readonly #partImaginary: Float64Array;

  constructor(length: number) {
    this.length = length;
    this.#factors = primeFactors(length);
    const angle = (i: number): number => (-2 * Math.PI * i) / length;
    this.#cos = Float64Array.from({ length }, (_, i) => Math.cos(angle(i)));
    this.#sin = Float64Array.from({ length }, (_, i) => Math.sin(angle(i)));
    this.#real = new Float64Array(length);
    this.#imaginary = new Float64Array(length);
    const most = Math.max(...this.#factors, 1);
    this.#partReal = new Float64Array(most);
    this.#partImaginary = new Float64Array(most);
  }

  /** The squared magnitudes of frequencies 0 to half of the length, into `power`. */
  power(samples: Float64Array, power: Float64Array): void {
    this.#transform(samples, { from: 0, stride: 1, to: 0, depth: 0, count: this.length });
    for (let k = 0; k < power.length; k++) {
      power[k] = (this.#real[k] ?? 0) ** 2 + (this.#imaginary[k] ?? 0) ** 2;
    }
  }

  /** Transforms every `stride`-th sample into the part of the result from `to` on. */
  #transform(samples: Float64Array, { from, stride, to, depth, count }: Part): void {
    const [real, imaginary] = [this.#real, this.#imaginary];
    if (count === 1) {
      real[to] = samples[from] ?? 0;
      imaginary[to] = 0;
      return;
    }
    const factor = this.#factors[depth] ?? count;
    const inner = count / factor;
    for (let j = 0; j < factor; j++) {
      this.#transform(samples, {
        from: from + j * stride,
        stride: stride * factor,
        to: to + j * inner,
        depth: depth + 1,
        count: inner,
      });
    }
    for (let k = 0; k < inner; k++) this.#join(to + k, { factor, inner, k, stride });
  }

  /** Makes the results `k`, `k + inner`, … of those of the parts. */
  #join(at: number, { factor, inner, k, stride }: Join): void {
    const [real, imaginary, cos, sin] = [this.#real, this.#imaginary, this.#cos, this.#sin];
    const [partReal, partImaginary] = [this.#partReal, this.#partImaginary];
    for (let j = 0; j < factor; j++) {
      partReal[j] = real[at + j * inner] ?? 0;
      partImaginary[j] = imaginary[at + j * inner] ?? 0;
    }
    for (let q = 0; q < factor; q++) {
      let sumReal = 0;
      let sumImaginary = 0;
      for (let j = 0; j < factor; j++) {
        const turn = (j * (k + q * inner) * stride) % this.length;
        const [c, s] = [cos[turn] ?? 0, sin[turn] ?? 0];
        sumReal += (partReal[j] ?? 0) * c - (partImaginary[j] ?? 0) * s;
        sumImaginary += (partReal[j] ?? 0) * s + (partImaginary[j] ?? 0) * c;
      }
      real[at + q * inner] = sumReal;
      imaginary[at + q * inner] = sumImaginary;
    }
  }
}

interface Part {
  readonly from: number;
  readonly stride: number;
  readonly to: number;
  readonly depth: number;
  readonly count: number;
}

interface Join {
  readonly factor: number;
  readonly inner: number;
  readonly k: number;
  readonly stride: number;
}

function primeFactors(value: number): number[] {
  const factors: number[] = [];
  let rest = value;
  for (let factor = 2; rest > 1; factor++) {
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return factors;
}
