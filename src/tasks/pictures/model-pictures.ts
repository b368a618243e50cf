import { checkOptions } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { ValueInfo } from '../../worker/protocol/loaded-session.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import type { JsonObject } from '../task-model.ts';
import { PICTURE_OPTIONS, type PictureOptions } from './picture-options.ts';
import { readPreprocessorConfig } from './preprocessor-config.ts';

/** The input of a model that takes pictures, and what it expects of them. */
export interface PictureInput {
  readonly name: string;
  readonly options: PictureOptions;
}

/**
 * How pictures are prepared for a model: layout, channels, dtype and size by its input, the rest by
 * `preprocessor_config.json`; options that a program gives go first. Throws ShapeError where no
 * input is a picture.
 */
export function pictureInputOf(
  session: Session,
  preprocessor: JsonObject | undefined,
  own: PictureOptions = {},
): PictureInput {
  checkOptions('option pictures', own, PICTURE_OPTIONS);
  const input =
    session.inputs.find(({ name }) => name === 'pixel_values') ??
    session.inputs.find((info) => shapeOf(info) !== undefined);
  const shape = input && shapeOf(input);
  if (input === undefined || shape === undefined) {
    const got = session.inputs.map(
      ({ name, dtype, shape }) => `${name}: ${dtype} [${shape.join(', ')}]`,
    );
    throw new ShapeError({
      where: 'the model',
      got: got.join(', ') || 'no inputs',
      expected:
        'an input of float32, float16 or uint8 [N, C, H, W] or [N, H, W, C], C being 1 or 3',
    });
  }
  const read = preprocessor === undefined ? {} : readPreprocessorConfig(preprocessor);
  // The file says in which order three of them come.
  const order = shape.channels === 'grey' ? { channels: shape.channels } : {};
  const options = { ...shape, ...withoutBlanks(read), ...order, ...withoutBlanks(own) };
  return { name: input.name, options };
}

/**
 * Throws UsageError where nothing says how large pictures have to be: the model takes any size, but answers well only at that of its
 * training.
 */
export function requireSize({ inputs }: Session, { name, options }: PictureInput): void {
  const { size, crop, pad, multipleOf } = options;
  if (size ?? crop ?? pad ?? multipleOf) return;
  const shape = inputs.find((input) => input.name === name)?.shape ?? [];
  throw new UsageError({
    where: 'the model',
    got: `${name} [${shape.join(', ')}], pictures of any size`,
    expected: 'a size, in preprocessor_config.json or the option pictures',
    remedy: 'Give pictures: { size: 224 } or whatever size the model was trained with.',
  });
}

/** The options without those that are undefined. */
function withoutBlanks(options: PictureOptions): PictureOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function shapeOf({ dtype, shape }: ValueInfo): PictureOptions | undefined {
  if (dtype !== 'float32' && dtype !== 'float16' && dtype !== 'uint8') return undefined;
  const [, second, third, fourth] = shape;
  if (shape.length !== 4) return undefined;
  const isLast = (fourth === 1 || fourth === 3) && second !== 1 && second !== 3;
  const [count, height, width] = isLast ? [fourth, second, third] : [second, third, fourth];
  // A number of channels that is free is that of colours.
  if (typeof count === 'number' && count !== 1 && count !== 3) return undefined;
  // Keys and values of a decoder with three heads: [batch, 3, past, 64].
  if (typeof height === 'string' && typeof width === 'number') return undefined;
  return {
    dtype,
    layout: isLast ? 'nhwc' : 'nchw',
    channels: count === 1 ? 'grey' : 'rgb',
    ...(typeof height === 'number' && typeof width === 'number' ? { size: { width, height } } : {}),
  };
}
