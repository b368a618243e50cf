import { elementCount } from '../../core/tensor/shape.ts';
import { FLOAT, plus, times } from '../../wasm/address.ts';
import { apply, f32x4, i32, load, local, locals } from '../../wasm/expression.ts';
import { byFours } from '../../wasm/for-parts.ts';
import { call, loop, set, type Statement, type WasmFunction } from '../../wasm/statement.ts';
import { floatAttribute } from '../attributes.ts';
import { elementAccess } from '../lowering/element-access.ts';
import type { WasmLowering } from '../lowering/wasm-lowering.ts';

/** Takes the mean of each channel off, multiplies it by a factor, and adds a term. */
export const batchNormWasm: WasmLowering = ({ output, attributes }) => {
  if (output.dtype !== 'float32') return undefined;
  const [batch = 0, channels = 0] = output.shape;
  const spatial = elementCount(output.shape.slice(2));
  return {
    functions: [channelFunction(spatial, floatAttribute(attributes, 'epsilon'))],
    units: batch * channels,
    body({ inputs: [x, ...statistics], output: y, units }) {
      if (x === undefined || spatial === 0) return [];
      const unit = local('i32');
      const channel = apply('i32.rem_u', unit, i32(channels));
      const at = times(unit, spatial * FLOAT);
      return loop({ index: unit, begin: units.first, end: units.end }, [
        call('channel', [
          plus(x, at),
          plus(y, at),
          ...statistics.map((place) => plus(place ?? x, times(channel, FLOAT))),
        ]),
      ]);
    },
  };
};

/** `channel(x, y, scale, bias, mean, variance)`. */
function channelFunction(spatial: number, epsilon: number): WasmFunction {
  const access = elementAccess('float32');
  const [x, y, scale, bias, mean, variance] = locals(6);
  const params = [x, y, scale, bias, mean, variance];
  if (access === undefined) return { name: 'channel', params, body: [] };
  const [middle, factor, term, value] = locals(4, 'v128');
  const deviation = apply(
    'f32x4.sqrt',
    apply('f32x4.add', load('splat32', variance), f32x4(epsilon)),
  );
  const vector = (count: number): Statement[] => [
    set(value, apply('f32x4.sub', access.read(x, 0, count), middle)),
    set(value, apply('f32x4.add', apply('f32x4.mul', value, factor), term)),
    ...access.write(y, 0, { value, count }),
  ];
  return {
    name: 'channel',
    params,
    body: [
      set(factor, apply('f32x4.div', load('splat32', scale), deviation)),
      set(term, load('splat32', bias)),
      set(middle, load('splat32', mean)),
      ...byFours({ count: spatial, pointers: [x, y], steps: [FLOAT, FLOAT] }, vector),
    ],
  };
}
