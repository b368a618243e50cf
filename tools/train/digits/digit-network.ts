import { type ParameterShapes, declare, trainingProgram, variables } from '../training-program.ts';

/** Parameters of the digit network as its model has them. */
export const DIGIT_PARAMETERS: ParameterShapes = new Map([
  ['conv1', [16, 1, 5, 5]],
  ['bias1', [16]],
  ['conv2', [32, 16, 5, 5]],
  ['bias2', [32]],
  ['dense', [512, 10]],
  ['bias3', [10]],
]);

/** Images of a batch that are digits; those behind them are pictures. */
export const digitRows = (batch: number): number => batch / 4;

/**
 * The training of the digit network on batches of images: digits, and pictures that are none. `@scores` gives the
 * ten scores of images.
 */
export function digitTraining(batch: number): string {
  return trainingProgram({
    parameters: DIGIT_PARAMETERS,
    inputs: [
      `%images: Tensor[(${batch}, 1, 28, 28), float32]`,
      `%targets: Tensor[(${batch}, 10), float32]`,
    ],
    model: model(batch, digitRows(batch)),
    beta2: 0.999,
    decay: 0,
    clip: 10,
  });
}

const model = (batch: number, digits: number): string => `
// Two convolutions, each with a pooling, and a dense layer: the scores of ten digits.
def @scores(
${declare(DIGIT_PARAMETERS)},
    %images: Tensor[(n, 1, 28, 28), float32], results=["scores"]) -> Tensor[(n, 10), float32] {
  %0 = conv2d(%images, %conv1, %bias1, pads=[2, 2, 2, 2]);
  %1 = max_pool(relu(%0), kernel=[2, 2], strides=[2, 2]);
  %2 = conv2d(%1, %conv2, %bias2, pads=[2, 2, 2, 2]);
  %3 = max_pool(relu(%2), kernel=[3, 3], strides=[3, 3]);
  add(matmul(reshape(%3, shape=[n, 512]), %dense), %bias3)
}

// The mean cross entropy of the digits, and the mean squared distance of the centred scores of the
// pictures. \`%targets\` has probabilities for digits and centred scores for pictures.
private def @loss(
${declare(DIGIT_PARAMETERS)},
    %images: Tensor[(${batch}, 1, 28, 28), float32], %targets: Tensor[(${batch}, 10), float32]) {
  %all = @scores(${variables(DIGIT_PARAMETERS.keys())}, %images);
  %likely = log_softmax(slice(%all, starts=[0, 0], ends=[${digits}, 10]));
  %wanted = slice(%targets, starts=[0, 0], ends=[${digits}, 10]);
  %entropy = mul(reduce_sum(mul(%likely, %wanted)), ${-1 / digits}f);
  %pictures = slice(%all, starts=[${digits}, 0], ends=[${batch}, 10]);
  %centred = sub(%pictures, reduce_mean(%pictures, axes=[1], keepdims=true));
  %away = sub(%centred, slice(%targets, starts=[${digits}, 0], ends=[${batch}, 10]));
  add(%entropy, reduce_mean(mul(%away, %away)))
}
`;
