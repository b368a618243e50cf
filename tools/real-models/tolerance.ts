import { Tensor } from '../../src/client/index.ts';
import { relativeError } from './compare-outputs.ts';
import type { ModelInputs } from './model-inputs.ts';
import type { RealModel } from './models.ts';
import type { PeerModel } from '../onnxruntime/open-onnxruntime.ts';

/** In float32, for sums in another order: the largest error of an output, relative to its range. */
const FLOAT32 = 1e-4;

/** Inputs are moved by so much of their magnitude, a few times over. */
const MOVED = 1e-5;
const MOVES = 6;
/** As many moves do not find the largest one. */
const MARGIN = 1.5;

/**
 * The largest error that an output of a model may have, relative to its range. Of one that rounds activations to 8 bits it is what the
 * peer's own outputs move by when its inputs move by a hundred thousandth, and half as much again.
 */
export async function toleranceOf(
  { isRounded = false }: RealModel,
  peer: PeerModel,
  inputs: ModelInputs,
): Promise<number> {
  if (!isRounded) return FLOAT32;
  const outputs = await peer.run(inputs);
  let most = FLOAT32;
  for (let move = 1; move <= MOVES; move++) {
    const moved = await peer.run(movedInputs(inputs, move));
    for (const [name, expected] of Object.entries(outputs)) {
      const got = moved[name];
      if (got === undefined) throw new Error(`got no output ${name}`);
      most = Math.max(most, MARGIN * relativeError(got, expected, name));
    }
  }
  return most;
}

function movedInputs(inputs: ModelInputs, move: number): ModelInputs {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, tensor]) => {
      const { data, shape } = tensor;
      if (!(data instanceof Float32Array)) return [name, tensor];
      const elements = data.map(
        (element, i) => element * (1 + MOVED * Math.sin(13 * i + 78 * move)),
      );
      return [name, new Tensor('float32', elements, shape)];
    }),
  );
}
