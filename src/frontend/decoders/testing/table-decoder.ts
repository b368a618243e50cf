import { parseModule } from '../../../compiler/ir/text/parse.ts';
import { generationModule } from '../generation-module.ts';

/** Logits behind a token, for V tokens: whole numbers up to `levels`, by `scale`. With few levels many are equal. */
export interface Table {
  readonly vocabulary: number;
  readonly levels: number;
  readonly scale: number;
}

/** Numbers that are exact on all devices. */
export const tableRow = ({ vocabulary, levels, scale }: Table, token: number): number[] =>
  Array.from(
    { length: vocabulary },
    (_, i) => (((token * 7919 + i * 10_473) % levels) - Math.floor(levels / 2)) * scale,
  );

/** The program that generates with a decoder whose logits are those of a table, and which passes its cache on. */
export function tableModule({ vocabulary, levels, scale }: Table) {
  const text = `def @decode(%tokens: Tensor[(b, s), int32], %first: Tensor[(b,), int32], %wanted: Tensor[(b, m), int32],
    %cache0: Tensor[(b, 1, c, 1), float32]) {
  let %token = reshape(gather_elements(%tokens, %wanted, axis=1), shape=[b, m, 1]);
  let %all = reshape(cast(arange(start=[0], size=[${vocabulary}]), to="int32"), shape=[1, 1, ${vocabulary}]);
  let %level = mod(add(mul(%token, 7919), mul(%all, 10473)), ${levels});
  let %logits = mul(cast(sub(%level, ${Math.floor(levels / 2)}), to="float32"), ${scale}f);
  let %rows = reshape(cast(%tokens, to="float32"), shape=[b, 1, s, 1]);
  (%logits, tensor_scatter(%cache0, %rows, %first, axis=2))
}`;
  const cache = { dtype: 'float32', shape: ['b', 1, 'c', 1] } as const;
  return generationModule({ module: parseModule(text), vocabulary, caches: [cache] });
}
