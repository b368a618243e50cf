import { ASYNC_DISPOSE } from '../../core/async/dispose-symbols.ts';
import { checkOptions, type OptionKind, type OptionKinds } from '../../core/check-options.ts';
import type { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { ShapeError } from '../../core/errors.ts';
import { requireLoaded, Task } from '../task.ts';
import { loadTask, type TaskSource } from '../task-model.ts';
import {
  type CallOptions,
  MILLISECONDS_FROM_0,
  MODELS_OPTIONS,
  type TaskOptions,
} from '../task-options.ts';
import { SampleWindows } from './sample-windows.ts';
import { readSound, requireLevels, type Sound } from './sound.ts';
import { padded, SegmentFinder, type SpeechSegment } from './speech-segments.ts';

/** How a model that hears speech is loaded. */
export interface VoiceActivityOptions extends Omit<TaskOptions, 'config' | 'preprocessor'> {
  /** The rate that the model hears at. Default 16,000; silero also knows 8,000. */
  readonly sampleRate?: 8000 | 16000 | undefined;
}

/**
 * Limits of likelihood and length from which sound is speech, as in `get_speech_timestamps` of
 * silero-vad.
 */
interface SpeechOptions {
  /** Speech begins with a window from this likelihood on, and ends below 0.15 less. Default 0.5. */
  readonly threshold?: number | undefined;
  /** Shorter stretches are left out. Default 250 ms. */
  readonly leastSpeechMs?: number | undefined;
  /** Shorter pauses do not end speech. Default 100 ms. */
  readonly leastSilenceMs?: number | undefined;
  /** Added before and behind each stretch. Default 30 ms. */
  readonly padMs?: number | undefined;
}

interface DetectSpeechOptions extends SpeechOptions, CallOptions {}

/** The latest window of a stream. */
interface HeardWindow {
  /** How likely there is speech in it. */
  readonly likelihood: number;
  /** True while speech goes on, short pauses included. */
  readonly isSpeech: boolean;
  /** A stretch that is over now, in seconds from the begin of the stream, without padding. */
  readonly ended?: SpeechSegment | undefined;
}

const RATE: OptionKind = ['8000 or 16000', (value) => value === 8000 || value === 16_000];
const SPEECH_OPTIONS: OptionKinds<SpeechOptions> = {
  threshold: 'positive',
  leastSpeechMs: MILLISECONDS_FROM_0,
  leastSilenceMs: MILLISECONDS_FROM_0,
  padMs: MILLISECONDS_FROM_0,
};

/**
 * Loads a model that tells speech from other sounds: silero-vad of version 5 or 6, or of version 4, by the names of its inputs. Rejects
 * as `Session.load` does, and with ShapeError for another model.
 */
export async function voiceActivity(
  source: TaskSource,
  options: VoiceActivityOptions = {},
): Promise<VoiceActivity> {
  checkOptions<VoiceActivityOptions>('voiceActivity', options, {
    sampleRate: RATE,
    file: 'text',
    ...MODELS_OPTIONS,
  });
  const { sampleRate = 16_000, ...place } = options;
  return loadTask(async (load) => {
    const { session } = await load(source, { ...place, config: {}, preprocessor: {} });
    return new VoiceActivity(session, sampleRate);
  });
}

/** The states and window lengths of a version of silero. */
interface Layout {
  /** Names of the inputs that hold what was heard before, and of the outputs that they come from. */
  readonly states: readonly (readonly [input: string, output: string])[];
  readonly dims: readonly number[];
  /** Samples of a window, and those before it that the model hears again; at 16,000. */
  readonly window: number;
  readonly context: number;
}

const LAYOUTS: readonly Layout[] = [
  { states: [['state', 'stateN']], dims: [2, 1, 128], window: 512, context: 64 },
  {
    states: [
      ['h', 'hn'],
      ['c', 'cn'],
    ],
    dims: [2, 1, 64],
    window: 1536,
    context: 0,
  },
];

/** Tells speech from other sounds. */
export class VoiceActivity extends Task {
  /** Samples of a second that it hears. */
  readonly sampleRate: number;
  /** Samples of a window: each is said to be speech or not. */
  readonly windowLength: number;
  readonly #layout: Layout;

  /** @internal */
  constructor(session: Session, sampleRate: number) {
    requireLoaded(session);
    const names = new Set(session.inputs.map(({ name }) => name));
    const layout = LAYOUTS.find(({ states }) => states.every(([name]) => names.has(name)));
    if (layout === undefined || !names.has('input')) {
      throw new ShapeError({
        where: 'the model',
        got: `inputs ${[...names].join(', ')}`,
        expected: 'input, sr and state, or input, sr, h and c, as silero-vad has them',
      });
    }
    super([session]);
    this.sampleRate = sampleRate;
    this.#layout = layout;
    this.windowLength = (layout.window * sampleRate) / 16_000;
  }

  /** The stretches of speech in a sound. Rejects with UsageError for no sound, and with the signal's reason. */
  async detect(sound: Sound, options: DetectSpeechOptions = {}): Promise<SpeechSegment[]> {
    checkOptions<DetectSpeechOptions>('detect', options, { ...SPEECH_OPTIONS, signal: 'signal' });
    const { signal, ...speech } = options;
    const samples = await readSound(sound, this.sampleRate);
    const finder = this.#finder(speech);
    const stretches: (readonly [number, number])[] = [];
    for await (const likelihood of this.#likelihoods(samples, signal)) {
      const ended = finder.push(likelihood);
      if (ended !== undefined) stretches.push(ended);
    }
    const last = finder.end();
    if (last !== undefined) stretches.push(last);
    const endMs = (samples.length / this.sampleRate) * 1000;
    return padded(stretches, { padMs: speech.padMs ?? 30, endMs });
  }

  /** How likely there is speech in each window of a sound; the last one is filled with silence. */
  async likelihoods(sound: Sound, options: CallOptions = {}): Promise<Float32Array> {
    checkOptions<CallOptions>('likelihoods', options, { signal: 'signal' });
    const samples = await readSound(sound, this.sampleRate);
    const all: number[] = [];
    for await (const likelihood of this.#likelihoods(samples, options.signal)) all.push(likelihood);
    return Float32Array.from(all);
  }

  /** Hears a sound while it comes in. Dispose of the stream in the end. */
  stream(options: SpeechOptions = {}): VoiceStream {
    checkOptions<SpeechOptions>('stream', options, SPEECH_OPTIONS);
    const step = new WindowStep(this.session, this.#layout, this.sampleRate);
    return new VoiceStream(step, this.#finder(options), this.windowLength);
  }

  #finder(options: SpeechOptions): SegmentFinder {
    const { threshold = 0.5, leastSpeechMs = 250, leastSilenceMs = 100, padMs = 30 } = options;
    const windowMs = (this.windowLength / this.sampleRate) * 1000;
    return new SegmentFinder({ threshold, leastSpeechMs, leastSilenceMs, padMs }, windowMs);
  }

  async *#likelihoods(
    samples: Float32Array,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<number> {
    signal?.throwIfAborted();
    const step = new WindowStep(this.session, this.#layout, this.sampleRate);
    try {
      for (let at = 0; at < samples.length; at += this.windowLength) {
        const window = new Float32Array(this.windowLength);
        window.set(samples.subarray(at, at + this.windowLength));
        yield await step.run(window, signal);
      }
    } finally {
      step.dispose();
    }
  }
}

/** Runs the model window by window; what it remembers stays on the device. */
class WindowStep {
  readonly #session: Session;
  readonly #layout: Layout;
  readonly #rate: number;
  readonly #before: Float32Array;
  #states: Record<string, DeviceTensor> | undefined;

  constructor(session: Session, layout: Layout, rate: number) {
    this.#session = session;
    this.#layout = layout;
    this.#rate = rate;
    this.#before = new Float32Array((layout.context * rate) / 16_000);
  }

  async run(window: Float32Array, signal?: AbortSignal): Promise<number> {
    const { states, dims } = this.#layout;
    const heard = new Float32Array(this.#before.length + window.length);
    heard.set(this.#before);
    heard.set(window, this.#before.length);
    this.#before.set(window.subarray(window.length - this.#before.length));
    const known = this.#states;
    const zeros = (): Tensor =>
      new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)), dims);
    const memory = states.map(([name]) => [name, known?.[name] ?? zeros()] as const);
    const results = await this.#session.run(
      {
        input: new Tensor('float32', heard, [1, heard.length]),
        sr: new Tensor('int64', BigInt64Array.of(BigInt(this.#rate)), []),
        ...Object.fromEntries(memory),
      },
      { signal, keep: states.map(([, output]) => output) },
    );
    this.dispose();
    this.#states = Object.fromEntries(
      states.map(([input, output]) => [input, results[output] as DeviceTensor]),
    );
    const { output } = results;
    return output instanceof Tensor ? Number(output.data[0]) : 0;
  }

  dispose(): void {
    for (const state of Object.values(this.#states ?? {})) state.dispose();
    this.#states = undefined;
  }
}

/** Hears a sound in pieces of any length. */
class VoiceStream {
  readonly #step: WindowStep;
  readonly #finder: SegmentFinder;
  readonly #windows: SampleWindows;
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(step: WindowStep, finder: SegmentFinder, windowLength: number) {
    this.#step = step;
    this.#finder = finder;
    this.#windows = new SampleWindows(windowLength);
  }

  /**
   * Takes samples at the model's rate. Resolves to the windows that they completed, in order; rejects with
   * UsageError for samples that are far from -1 to 1.
   */
  async push(samples: Float32Array): Promise<HeardWindow[]> {
    requireLevels(samples);
    // The samples are the caller's again when this returns.
    const windows = [...this.#windows.push(samples)];
    const heard = this.#last.then(() => this.#hear(windows));
    this.#last = heard.catch(() => undefined);
    return heard;
  }

  /** Frees what the model remembers. Idempotent. */
  async dispose(): Promise<void> {
    await this.#last;
    this.#step.dispose();
  }

  /** Calls {@link dispose} at the end of a block with `await using`. */
  [ASYNC_DISPOSE](): Promise<void> {
    return this.dispose();
  }

  async #hear(windows: readonly Float32Array[]): Promise<HeardWindow[]> {
    const heard: HeardWindow[] = [];
    for (const window of windows) {
      const likelihood = await this.#step.run(window);
      const stretch = this.#finder.push(likelihood);
      const ended = stretch && { start: stretch[0] / 1000, end: stretch[1] / 1000 };
      heard.push({ likelihood, isSpeech: this.#finder.isSpeech, ended });
    }
    return heard;
  }
}
