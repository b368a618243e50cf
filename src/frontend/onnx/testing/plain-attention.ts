import { HostTensor } from '../../../core/tensor/host-tensor.ts';

export interface Plain {
  readonly batch: number;
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  readonly size: number;
  readonly valueSize: number;
  readonly q: (b: number, h: number, i: number, d: number) => number;
  readonly k: (b: number, h: number, j: number, d: number) => number;
  readonly v: (b: number, h: number, j: number, d: number) => number;
  /** Added to a score; -Infinity for a key that is not seen. */
  readonly bias: (b: number, h: number, i: number, j: number) => number;
  readonly scale?: number;
  readonly softcap?: number;
  readonly sink?: (h: number) => number;
}

/** Attention by its definition, (batch, queries, heads * valueSize). */
export function plainAttention(p: Plain): HostTensor {
  const result: number[] = [];
  const range = (count: number) => Array.from({ length: count }, (_, i) => i);
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  for (const b of range(p.batch)) {
    for (const i of range(p.queries)) {
      for (const h of range(p.heads)) {
        const scores = range(p.keys).map((j) => {
          const product = sum(range(p.size).map((d) => p.q(b, h, i, d) * p.k(b, h, j, d)));
          const scaled = product * (p.scale ?? 1 / Math.sqrt(p.size));
          const capped =
            p.softcap === undefined ? scaled : Math.tanh(scaled / p.softcap) * p.softcap;
          return Math.exp(capped + p.bias(b, h, i, j));
        });
        const whole = sum(scores) + (p.sink === undefined ? 0 : Math.exp(p.sink(h)));
        for (const d of range(p.valueSize)) {
          result.push(sum(scores.map((score, j) => (score / whole) * p.v(b, h, j, d))));
        }
      }
    }
  }
  return HostTensor.from('float32', [p.batch, p.queries, p.heads * p.valueSize], result);
}
