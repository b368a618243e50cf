import { call, func, moduleOf, tuple, variable } from '../../../compiler/ir/build.ts';
import type { Expr, Module, VarExpr } from '../../../compiler/ir/expr.ts';
import type { Architecture } from './architecture.ts';
import type { DecoderConfig, RotaryConfig } from './decoder-config.ts';
import type { DecoderWeights } from './decoder-weights.ts';
import { type Cache, LayerBuilder } from './layer-builder.ts';
import { positionsFrom } from './parts/attention.ts';
import { type Angles, anglesOf } from './parts/rotary.ts';
import { mul, number, reshape, softcap } from './parts/tensor-calls.ts';
import { embed, productByRows } from './parts/weight.ts';
import { EMBEDDING, HEAD } from './tensor-spec.ts';

/**
 * The program of a decoder, whose weights are constants:
 *
 *     @decode(%tokens: Tensor[(b, s), int32], %first: Tensor[(b,), int32], %wanted: Tensor[(b, m), int32],
 *       %key0: Tensor[(b, keyHeads, c, headWidth), float32], %value0: …, %key1: …, …)
 *       -> (Tensor[(b, m, vocabulary), float32], caches in the same order)
 *
 * Tokens of row r stand at positions first[r] to first[r] + s - 1, of which the results are the logits behind
 * those that wanted[r] says. Their keys and values are written into the caches at these positions; what goes beyond the
 * capacity c is dropped. So rows may be of different lengths: what is behind a row's last token is overwritten by
 * what comes next.
 */
export function decoderModule(
  architecture: Architecture,
  config: DecoderConfig,
  weights: DecoderWeights,
): Module {
  const tokens = variable('tokens', 'int32', ['b', 's']);
  const [first, wanted] = [
    variable('first', 'int32', ['b']),
    variable('wanted', 'int32', ['b', 'm']),
  ];
  const caches = Array.from({ length: config.layers }, (_, layer) => cacheOf(config, layer));
  const positions = positionsFrom(first);
  const around = {
    config,
    weights,
    first,
    angles: anglesByLayer(positions, config, weights),
  };
  const table = weights.matrix(EMBEDDING);
  const embedded = embed(tokens, table);
  const { embeddingScale } = config;
  let x = embeddingScale === 1 ? embedded : mul(embedded, number(embeddingScale));
  const presents: Cache[] = [];
  for (const [layer, past] of caches.entries()) {
    const builder = new LayerBuilder(layer, around, past);
    x = architecture.layer(builder, x);
    presents.push(builder.present);
  }
  const chosen = call('gather_nd', [x, reshape(wanted, ['b', 'm', 1])], { batch_dims: 1 });
  const normal = call('rms_norm', [chosen], { epsilon: config.epsilon });
  const normed = mul(normal, weights.vector('output_norm.weight'));
  const head = weights.has(HEAD) ? weights.matrix(HEAD) : table;
  const logits = softcap(productByRows(normed, head), config.logitSoftcap);
  const params = [tokens, first, wanted, ...flat(caches)];
  const resultNames = ['logits', ...flat(caches).map(({ name }) => name)];
  const body = tuple([logits, ...flat(presents)]);
  return moduleOf({ decode: func(params, body, { resultNames }) });
}

const flat = <Value extends Expr>(caches: readonly Cache<Value>[]): Value[] =>
  caches.flatMap(({ key, value }) => [key, value]);

function cacheOf({ keyHeads, headWidth }: DecoderConfig, layer: number): Cache<VarExpr> {
  const shape = ['b', keyHeads, 'c', headWidth];
  return {
    key: variable(`key${layer}`, 'float32', shape),
    value: variable(`value${layer}`, 'float32', shape),
  };
}

/** Layers that slide may have angles of their own. */
function anglesByLayer(
  positions: Expr,
  config: DecoderConfig,
  weights: DecoderWeights,
): (layer: number) => Angles {
  const { rotary, slidingRotary = rotary, contextLength, headWidth } = config;
  return onceFor(
    (layer: number) => (config.windows[layer] === undefined ? rotary : slidingRotary),
    (rotary: RotaryConfig) => {
      const { factors } = rotary;
      const divisors = typeof factors === 'string' ? weights.values(factors) : factors;
      return anglesOf(positions, { rotary, factors: divisors, contextLength, headWidth });
    },
  );
}

/** A function of what a key follows from, computed once for each key: equal keys share their nodes. */
function onceFor<From, Key, Value>(
  keyOf: (from: From) => Key,
  make: (key: Key) => Value,
): (from: From) => Value {
  const made = new Map<Key, Value>();
  return (from) => {
    const key = keyOf(from);
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
