import { type Draw, reals, scalar } from '../draw.ts';
import type { CaseTable, NodeCase } from '../node-case.ts';

function stft(draw: Draw): NodeCase {
  const length = draw.int(3, 9);
  const step = draw.int(1, 4);
  const size = length + draw.int(0, 12);
  const batch = draw.int(1, 2);
  const dtype = draw.pick(['float32', 'float32', 'float64'] as const);
  const isComplex = draw.often(0.2);
  const how = draw.pick(['window', 'length', 'both']);
  return {
    op: 'STFT',
    opset: 17,
    inputs: [
      draw.tensor(dtype, [batch, size, isComplex ? 2 : 1], reals),
      scalar(draw.pick(['int64', 'int32'] as const), step),
      how === 'length' ? undefined : draw.tensor(dtype, [length], reals),
      how === 'window' ? undefined : scalar('int64', length),
    ],
    parameters: draw.pick([
      [1, 3],
      [1, 2, 3],
    ]),
    isFixed: true,
    attributes: { onesided: isComplex ? 0 : draw.maybe(() => draw.int(0, 1)) },
    atol: 1e-3,
  };
}

function melWeightMatrix(draw: Draw): NodeCase {
  const rate = draw.pick([8000, 8192, 16000]);
  const low = draw.pick([0, 20, 300]);
  const given = draw.pick(['int32', 'int64'] as const);
  return {
    op: 'MelWeightMatrix',
    opset: 17,
    inputs: [
      scalar(given, draw.int(1, 9)),
      scalar(given, draw.int(8, 33)),
      scalar(given, rate),
      scalar('float32', low),
      scalar('float32', draw.pick([rate / 2, rate / 4])),
    ],
    parameters: [0, 1, 2, 3, 4],
    attributes: { output_datatype: draw.maybe(() => draw.pick([1, 11])) },
  };
}

export const SIGNAL_CASES: CaseTable = { MelWeightMatrix: melWeightMatrix, STFT: stft };
