import { expect, test } from 'vitest';
import { ImageClassifier, SpeechToText, VoiceActivity, WakeWord } from './index.ts';
import { activate, imageClassifier, loadTaskModel, melSpectrogram, numbersOf } from './index.ts';
import { overlap, preparePictures, readPreprocessorConfig, suppress, topLabels } from './index.ts';
import { Tensor } from '../client/values/tensor.ts';
import { COLOURS } from './testing/colours-model.ts';

const untyped = (value: unknown): never => value as never;
const picture = { width: 1, height: 1, data: new Uint8Array(3) };

test.each<[string, () => unknown, string]>([
  [
    'activate',
    () => activate([1], untyped('relu')),
    'activate: got the activation "relu", expected',
  ],
  ['a tensor', () => activate(untyped(Tensor.from([1])), 'none'), 'expected a list of numbers.'],
  [
    'topLabels',
    () => topLabels([1, 2], untyped({ top_k: 1 })),
    'topLabels: got an unknown option "top_k", expected only topK, labels. Did you mean topK?',
  ],
  ['numbersOf', () => numbersOf(untyped([1])), 'numbersOf: got what is [1], expected a Tensor.'],
  ['suppress', () => suppress(untyped([{ x: 1 }])), 'expected a list, each { box, score, index }.'],
  [
    'its threshold',
    () => suppress([], untyped({ threshold: 1 })),
    'got the threshold {"threshold":1}',
  ],
  [
    'overlap',
    () => overlap(untyped([0, 0, 1, 1]), untyped([])),
    'expected { left, top, width, height }.',
  ],
  [
    'a text',
    () => readPreprocessorConfig(untyped('{}')),
    'got the content "{}", expected an object.',
  ],
  ['samples', () => melSpectrogram(untyped(undefined)), 'got samples that are undefined, expected'],
  ...[ImageClassifier, SpeechToText, VoiceActivity, WakeWord].map(
    (task): [string, () => unknown, string] => [
      `new ${task.name}`,
      () => Reflect.construct(task, ['model.onnx']) as unknown,
      'a task: got a call of the constructor with',
    ],
  ),
  ['one picture', () => preparePictures(untyped(picture), {}), 'expected'],
  [
    'no options',
    () => imageClassifier(COLOURS, untyped(null)),
    'imageClassifier: got null, expected',
  ],
  [
    'other options',
    () => loadTaskModel(COLOURS, untyped({ devise: 'host' })),
    'Did you mean device?',
  ],
  [
    'one picture for several',
    async () => {
      await using classifier = await imageClassifier(COLOURS, { device: 'host' });
      return classifier.classifyAll(untyped(picture));
    },
    'pictures: got what is {"width":1,"height":1,"data":"a Uint8Array"}, expected a list.',
  ],
])('%s is refused where it is not meant', async (_, misuse, message) => {
  await expect((async () => misuse())()).rejects.toThrow(
    expect.objectContaining({
      name: 'UsageError',
      message: expect.stringContaining(message) as string,
    }),
  );
});
