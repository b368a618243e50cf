import type {
  LossName,
  OptimizerName,
  ScheduleName,
} from '../../compiler/ir/operators/training-operators.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import {
  checkOptions,
  either,
  oneOf,
  type OptionKinds,
  requireKind,
} from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { shortList } from '../../core/short-list.ts';
import { IMPORT_OPTIONS, type ImportOptions } from '../onnx/import-onnx.ts';

/** An operator of training with its settings. */
interface Setting<Name extends string> {
  readonly name: Name;
  /** Its attributes, see docs/training.md; those that are left out have their defaults. */
  readonly settings?: Attributes | undefined;
}

/** How a model is trained. */
export interface TrainingOptions extends Omit<ImportOptions, 'check' | 'functions'> {
  /** Names of the initializers that are trained; `*` stands for any characters. */
  readonly wrt: readonly string[];
  /** `output`: the model's own output is the loss. */
  readonly loss: Setting<LossName | 'output'>;
  /** The output that the loss is of. Default: the only one, or the first. */
  readonly output?: string | undefined;
  /** The dtype of the targets. Default: int64 classes for `cross_entropy`, else that of the output. */
  readonly targets?: DType | undefined;
  /** The first dimension of all inputs, where the model leaves it open. Default: open. */
  readonly batch?: number | undefined;
  /** The optimizer and its settings. Default: `adamw`. */
  readonly optimizer?: Setting<OptimizerName> | undefined;
  /** The peak of the learning rate; `input`: an input `rate` of each step. Default: 0.001. */
  readonly rate?: number | 'input' | undefined;
  /** Default: `constant_rate`. */
  readonly schedule?: Setting<ScheduleName> | undefined;
  /** The most that the norm of all gradients, or the size of each element, may be. */
  readonly clip?: { readonly norm?: number; readonly value?: number } | undefined;
  /** The factor of the loss before its derivatives are taken: a number, or one that steps find. Default: 1. */
  readonly lossScale?: number | 'dynamic' | undefined;
  /** Matrices that `wrt` names stay as they are, and low-rank factors beside them are trained. Default: none. */
  readonly lora?: { readonly rank: number; readonly alpha?: number | undefined } | undefined;
  /** The seed of the factors of `lora`. Default: 0. */
  readonly seed?: number | undefined;
}

const { check: _check, functions: _functions, ...kinds } = IMPORT_OPTIONS;
const TRAINING_OPTIONS: OptionKinds<TrainingOptions> = {
  wrt: 'names',
  loss: 'object',
  output: 'text',
  targets: 'text',
  batch: 'count',
  optimizer: 'object',
  rate: either('number', oneOf('input')),
  schedule: 'object',
  clip: 'object',
  lossScale: either('positive', oneOf('dynamic')),
  lora: 'object',
  seed: 'integer',
  ...kinds,
};

/** Throws UsageError for options that there are not. */
export function checkTraining(options: TrainingOptions): void {
  checkOptions('gradOnnx', options, TRAINING_OPTIONS);
  const { loss, optimizer, schedule, clip, lora } = options;
  for (const [name, setting] of Object.entries({ loss, optimizer, schedule })) {
    const isMissing = setting === undefined && name !== 'loss';
    const kinds: OptionKinds<Setting<string>> = { name: 'text', settings: 'object' };
    if (!isMissing) checkOptions<Setting<string>>(`gradOnnx, ${name}`, setting as never, kinds);
  }
  if (clip)
    checkOptions<typeof clip>('gradOnnx, clip', clip, { norm: 'positive', value: 'positive' });
  if (lora) checkOptions<typeof lora>('gradOnnx, lora', lora, { rank: 'count', alpha: 'number' });
}

/**
 * A test for names that match one of the patterns. Throws UsageError for a pattern that matches
 * none of the names.
 */
export function matcherOf(
  patterns: readonly string[],
  names: readonly string[],
  what: string,
): (name: string) => boolean {
  requireKind('gradOnnx', 'names', ['wrt', patterns]);
  const expressions = patterns.map((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 's');
  });
  for (const [i, expression] of expressions.entries()) {
    if (names.some((name) => expression.test(name))) continue;
    throw new UsageError({
      where: 'wrt',
      got: `${JSON.stringify(patterns[i])}, which fits nothing`,
      expected: `${what}: ${shortList(names.map((name) => JSON.stringify(name))) || 'the model has none'}`,
      remedy: 'A * stands for any characters: "*.weight".',
    });
  }
  return (name) => expressions.some((expression) => expression.test(name));
}
