import type { Session } from '../../client/session.ts';
import { checkOptions, type OptionKinds, requireKind } from '../../core/check-options.ts';
import { loadTask, type TaskFolder, type TaskSource } from '../task-model.ts';
import { MODELS_OPTIONS, SHARE, SOURCE, type TaskOptions } from '../task-options.ts';
import { isBundle, openBundle, type TaskBundle } from './task-bundle.ts';

/** The two models of a task, each by itself. */
export interface LiveSources {
  /** Finds faces, palms or bodies. */
  readonly detector: TaskSource;
  /** Finds the landmarks of one. */
  readonly landmarks: TaskSource;
}

/**
 * Where the models of a task are: a folder that has them by the names that MediaPipe gives them, a `.task` bundle by its address or bytes, or each
 * by itself.
 */
export type LiveSource = TaskFolder | TaskBundle | LiveSources;

/** How models of live tasks are loaded; all of `Session.load` that says where they run. */
export type LiveModelOptions = Omit<TaskOptions, 'file' | 'config' | 'preprocessor'>;

/** How things with landmarks are looked for. */
export interface LandmarkOptions extends LiveModelOptions {
  /** The most things that are followed. While there are fewer, the detector looks for more in each frame. */
  readonly count?: number | undefined;
  /** The least score of the detector, from 0 to 1. Default 0.5. */
  readonly leastDetection?: number | undefined;
  /** How sure the model of landmarks has to be, from 0 to 1; below that a thing is lost. Default 0.5. */
  readonly leastPresence?: number | undefined;
  /** Smooths landmarks of what is followed by a one-euro filter. */
  readonly smoothing?: boolean | undefined;
}

export const LANDMARK_OPTIONS: OptionKinds<LandmarkOptions> = {
  count: 'count',
  leastDetection: SHARE,
  leastPresence: SHARE,
  smoothing: 'boolean',
  ...MODELS_OPTIONS,
};

/** The names of a task's models in a folder, without their endings, the best first. */
interface ModelNames {
  readonly detector: readonly string[];
  readonly landmarks: readonly string[];
}

/** The files that a model of some names may be in. */
const filesNamed = (names: readonly string[]): string[] =>
  names.flatMap((name) => [`${name}.weft`, `${name}.tflite`, `${name}.onnx`]);

/** Nothing beside these models says anything about pictures. */
const PLAIN = { config: {}, preprocessor: {} };

/** Loads a task of one model. Rejects as `Session.load` does. */
export function loadOne<Made>(
  source: TaskSource,
  { names, ...options }: LiveModelOptions & { readonly names: readonly string[] },
  make: (session: Session) => Made,
): Promise<Made> {
  return loadTask(async (load) =>
    make((await load(source, { ...options, ...PLAIN }, filesNamed(names))).session),
  );
}

/** Loads a task of two models. Rejects as `Session.load` does. */
export async function loadBoth<Made>(
  source: LiveSource,
  { names, ...options }: LiveModelOptions & { readonly names: ModelNames },
  make: (detector: Session, landmarks: Session) => Made,
): Promise<Made> {
  const { cache = true, signal } = options;
  return loadTask(async (load) => {
    const given = isBundle(source) ? await openBundle(source, { cache, signal }) : source;
    const sources = sourcesOf(given);
    const open = async (name: keyof ModelNames): Promise<Session> =>
      (await load(sources[name], { ...options, ...PLAIN }, filesNamed(names[name]))).session;
    const [detector, landmarks] = await Promise.all([open('detector'), open('landmarks')]);
    return make(detector, landmarks);
  });
}

function sourcesOf(source: TaskFolder | LiveSources): LiveSources {
  const where = 'the models';
  requireKind(where, SOURCE, ['what is', source]);
  if (typeof source === 'string' || source instanceof URL || typeof source === 'function') {
    return { detector: source, landmarks: source };
  }
  checkOptions<LiveSources>(where, source, { detector: SOURCE, landmarks: SOURCE });
  for (const name of ['detector', 'landmarks'] as const) {
    requireKind(where, SOURCE, [name, source[name]]);
  }
  return source;
}
