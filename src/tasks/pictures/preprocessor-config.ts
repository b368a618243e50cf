import { requireKind } from '../../core/check-options.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import type { EdgeSize, PictureOptions, Size } from './picture-options.ts';
import type { Resampling } from './resample-weights.ts';

/** Kinds of resampling by the numbers that Pillow gives them. */
const RESAMPLINGS: readonly Resampling[] = [
  'nearest',
  'lanczos',
  'bilinear',
  'bicubic',
  'box',
  'hamming',
];

/** Steps that are read. Any other that is switched on would be left out silently. */
const STEPS = new Set([
  'do_resize',
  'do_center_crop',
  'do_rescale',
  'do_normalize',
  'do_convert_rgb',
  'do_pad',
  'do_flip_channel_order',
  // About annotations and results, not about the picture.
  'do_convert_annotations',
  'do_reduce_labels',
]);

type Config = Readonly<Record<string, unknown>>;

/**
 * The options of a `preprocessor_config.json`, as the image processors of @huggingface/transformers read it. Throws UnsupportedError
 * that names the steps that are not among {@link PictureOptions}, and FormatError for values that are none.
 */
export function readPreprocessorConfig(config: Config): PictureOptions {
  requireKind('readPreprocessorConfig', 'object', ['the content', config]);
  const steps = Object.keys(config).filter((key) => key.startsWith('do_') && config[key] === true);
  const unknown = steps.filter((key) => !STEPS.has(key));
  if (unknown.length > 0) {
    throw new UnsupportedError({
      where: 'preprocessor_config.json',
      got: unknown.join(', '),
      expected: `only ${[...STEPS].join(', ')}`,
      remedy: 'Give the option pictures with what the model expects.',
    });
  }
  const isOn = (key: string, otherwise: boolean): boolean =>
    typeof config[key] === 'boolean' ? config[key] : otherwise;
  const size = sizeOf(config['size'] ?? config['image_size'], config['max_size']);
  const divisor = integerOf(config, 'size_divisibility') ?? integerOf(config, 'size_divisor');
  const resizes = isOn('do_resize', size !== undefined);
  const isFlipped = isOn('do_flip_channel_order', false);
  return {
    // A width and height are taken as they are.
    ...(resizes ? { size, ...(isExact(size) ? {} : { multipleOf: divisor }) } : {}),
    ...(resizes ? ownSizes(config, size) : {}),
    resampling: resamplingOf(config['resample'] ?? 2),
    ...(isOn('do_center_crop', false) ? { crop: cropOf(config['crop_size']) } : {}),
    scale: isOn('do_rescale', true) ? (numberOf(config, 'rescale_factor') ?? 1 / 255) : 1,
    ...(isOn('do_normalize', false) ? normalisation(config) : {}),
    ...(isOn('do_pad', false) ? { pad: padOf(config, size, divisor) } : {}),
    channels: isFlipped ? 'bgr' : 'rgb',
  };
}

function isExact(size: PictureOptions['size']): size is Size {
  return typeof size === 'object' && 'width' in size;
}

/** Sizes of the types of processors that read the same options in another way. */
function ownSizes(config: Config, size: PictureOptions['size']): PictureOptions {
  const type = processorOf(config);
  if (!type.startsWith('ConvNext') || typeof size !== 'object' || !('shortestEdge' in size))
    return {};
  const { shortestEdge = 224 } = size;
  if (shortestEdge >= 384) return { size: shortestEdge };
  const share = numberOf(config, 'crop_pct') ?? 224 / 256;
  return { size: { shortestEdge: Math.floor(shortestEdge / share) }, crop: shortestEdge };
}

function processorOf(config: Config): string {
  const type = config['image_processor_type'] ?? config['feature_extractor_type'];
  return typeof type === 'string' ? type : '';
}

function normalisation(config: Config): PictureOptions {
  const mean = numbersOf(config, 'image_mean') ?? numbersOf(config, 'mean');
  const std = numbersOf(config, 'image_std') ?? numbersOf(config, 'std');
  if (mean === undefined || std === undefined) {
    throw wrong('do_normalize without image_mean and image_std', 'both');
  }
  const type = processorOf(config);
  // EfficientNet's processor divides twice where the classifier's head is there.
  if (type.startsWith('EfficientNet') && config['include_top'] !== false) {
    return { mean, std: typeof std === 'number' ? std ** 2 : std.map((value) => value ** 2) };
  }
  return { mean, std };
}

function padOf(
  config: Config,
  size: PictureOptions['size'],
  divisor: number | undefined,
): PictureOptions['pad'] {
  const own = config['pad_size'];
  if (own !== undefined && own !== null) return cropOf(own, 'pad_size');
  if (divisor !== undefined) return divisor;
  return isExact(size) ? size : undefined;
}

function sizeOf(value: unknown, most: unknown): number | Size | EdgeSize | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isInteger(value)) {
    return { shortestEdge: Number(value), longestEdge: Number(most ?? value) };
  }
  const { shortest_edge, longest_edge, width, height } = Object(value) as Config;
  if (Number.isInteger(width) && Number.isInteger(height)) {
    return { width: Number(width), height: Number(height) };
  }
  if (!Number.isInteger(shortest_edge ?? longest_edge)) {
    throw wrong(
      `size ${JSON.stringify(value)}`,
      'pixels, { height, width } or { shortest_edge, longest_edge }',
    );
  }
  const edge = (side: unknown) => (Number.isInteger(side) ? Number(side) : undefined);
  return { shortestEdge: edge(shortest_edge), longestEdge: edge(longest_edge) };
}

function cropOf(value: unknown, key = 'crop_size'): Size {
  if (Number.isInteger(value)) return { width: Number(value), height: Number(value) };
  const { width, height } = Object(value) as Config;
  if (Number.isInteger(width) && Number.isInteger(height)) {
    return { width: Number(width), height: Number(height) };
  }
  throw wrong(`${key} ${JSON.stringify(value)}`, 'pixels or { height, width }');
}

function resamplingOf(value: unknown): Resampling {
  const found = RESAMPLINGS[Number(value)];
  if (found === undefined) throw wrong(`resample ${JSON.stringify(value)}`, 'a number from 0 to 5');
  return found;
}

function numberOf(config: Config, key: string): number | undefined {
  const value = config[key];
  return typeof value === 'number' ? value : undefined;
}

function integerOf(config: Config, key: string): number | undefined {
  const value = numberOf(config, key);
  return Number.isSafeInteger(value) && Number(value) > 0 ? value : undefined;
}

function numbersOf(config: Config, key: string): number | readonly number[] | undefined {
  const value = config[key];
  if (typeof value === 'number') return value;
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'number');
  return isList ? value : undefined;
}

function wrong(got: string, expected: string): FormatError {
  return new FormatError({ where: 'preprocessor_config.json', got, expected });
}
