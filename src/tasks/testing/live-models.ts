import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { writeOnnxModel } from '../../testing/onnx-writer.ts';
import { constantDetector } from './constant-detector.ts';

/** What a detector says of every picture: boxes and points at some of its anchors, in pixels from their middles. */
interface Said {
  readonly anchor: number;
  readonly numbers: readonly number[];
  readonly logit: number;
}

/** A detector of one size, with as many anchors and numbers as a known one has. */
export function saysBoxes(
  { anchors, row, side }: { readonly anchors: number; readonly row: number; readonly side: number },
  said: readonly Said[],
): Uint8Array {
  const boxes = new Float32Array(anchors * row);
  const scores = new Float32Array(anchors).fill(-9);
  for (const { anchor, numbers, logit } of said) {
    boxes.set(numbers, anchor * row);
    scores[anchor] = logit;
  }
  return constantDetector(
    {
      boxes: new HostTensor('float32', [1, anchors, row], boxes),
      scores: new HostTensor('float32', [1, anchors, 1], scores),
    },
    side,
  );
}

/** Numbers that a model says of every picture, or `mean`: how bright it is, from 0 to 1. */
type Output = HostTensor | 'mean';

/** A model of landmarks with outputs of one element or constants, for pictures of one size with channels last. */
export function saysLandmarks(side: number, outputs: Readonly<Record<string, Output>>): Uint8Array {
  const all = Object.entries(outputs);
  return writeOnnxModel({
    nodes: [
      { op: 'ReduceMean', inputs: ['x'], outputs: ['m'], attributes: { keepdims: 0 } },
      { op: 'Mul', inputs: ['m', 'zero'], outputs: ['none'] },
      ...all.map(([name, output]) =>
        output === 'mean'
          ? { op: 'Reshape', inputs: ['m', 'one'], outputs: [name] }
          : { op: 'Add', inputs: [`${name}.value`, 'none'], outputs: [name] },
      ),
    ],
    opset: 13,
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, side, side, 3] }],
    outputs: Object.keys(outputs),
    initializers: {
      zero: HostTensor.from('float32', [], [0]),
      one: HostTensor.from('int64', [2], [1n, 1n]),
      ...Object.fromEntries(
        all.flatMap(([name, value]) => (value === 'mean' ? [] : [[`${name}.value`, value]])),
      ),
    },
  });
}

/** An upright palm in the middle of the model's picture, wrist below, of 24 x 24 pixels. */
const PALM = {
  // Row 12, column 12 of 24 of the first layer, whose middle is at 100.
  anchor: (12 * 24 + 12) * 2,
  numbers: [-4, -4, 24, 24, -4, 8, 0, 0, -4, -16, ...Array<number>(8).fill(0)],
  logit: 3,
};
/** Points of a hand: all in the middle, but for the wrist and the middle finger below and above. */
const POINTS = Array.from({ length: 21 }, (_, i): number[] => {
  return i === 0 ? [112, 168, 0] : i === 6 ? [112, 56, 22.4] : [112, 112, 0];
}).flat();

const WORLD = Array.from({ length: 63 }, (_, i) => i / 100);

/** A hand in the middle of a bright picture, and none in a dark one. */
export const HAND_MODELS = {
  detector: saysBoxes({ anchors: 2016, row: 18, side: 192 }, [PALM]),
  landmarks: saysLandmarks(224, {
    points: HostTensor.from('float32', [1, 63], POINTS),
    presence: 'mean',
    right: HostTensor.from('float32', [1, 1], [0.25]),
    world: HostTensor.from('float32', [1, 63], WORLD),
  }),
};
