import type { DemoContext, Section } from '../demo-context.ts';
import { describeMediaError } from './describe-media-error.ts';
import { byId, context2d, showFacts } from '../element.ts';
import { synthesizedSound } from '../sound/synthesized-sound.ts';
import workletAddress from '../sound/microphone-worklet.ts?worker&url';
import type { Samples, VoiceActivity } from '../../tasks/index.ts';

/** A window of the model at 16,000 samples a second. */
const CHUNK = 512;

/** A recording, as fast as it would be played. Rejects with the signal's reason. */
async function* playedChunks(
  { samples, sampleRate }: Samples,
  signal: AbortSignal,
): AsyncGenerator<Float32Array> {
  const begin = performance.now();
  for (let at = 0; at + CHUNK <= samples.length; at += CHUNK) {
    const dueMs = begin + (1000 * at) / sampleRate - performance.now();
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
    signal.throwIfAborted();
    yield samples.subarray(at, at + CHUNK);
  }
}

const SAMPLE_RATE = 16_000;

/**
 * Samples of the microphone, 16,000 a second, until the signal is aborted; rejects where there is
 * none.
 */
async function* openMicrophone(signal: AbortSignal): AsyncGenerator<Float32Array> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const context = new AudioContext({ sampleRate: SAMPLE_RATE });
  try {
    await context.audioWorklet.addModule(workletAddress);
    const node = new AudioWorkletNode(context, 'microphone', { numberOfOutputs: 0 });
    const waiting: Float32Array[] = [];
    let wake: (() => void) | undefined;
    node.port.addEventListener('message', ({ data }: MessageEvent<Float32Array>) => {
      waiting.push(data);
      wake?.();
    });
    node.port.start();
    signal.addEventListener('abort', () => wake?.());
    context.createMediaStreamSource(stream).connect(node);
    while (!signal.aborted) {
      const chunk = waiting.shift();
      if (chunk !== undefined) yield chunk;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    for (const track of stream.getTracks()) track.stop();
    await context.close();
  }
}

/** Windows that fit into the picture; each is 32 ms. */
const SHOWN_WINDOWS = 190;
const WINDOW_SECONDS = 0.032;

interface HeardWindow {
  readonly likelihood: number;
  readonly isSpeech: boolean;
}

/** Says when somebody speaks, in a synthetic recording or at the microphone. */
export class VoiceSection implements Section {
  readonly #context: DemoContext;
  readonly #canvas = byId('voice-canvas', HTMLCanvasElement);
  readonly #play = byId('voice-play', HTMLButtonElement);
  readonly #microphone = byId('voice-microphone', HTMLButtonElement);
  readonly #status = byId('voice-status', HTMLElement);
  readonly #facts = byId('voice-facts', HTMLElement);
  #listening: AbortController | undefined;
  /** Once it is here. */
  #voice: VoiceActivity | undefined;
  #isOpen = false;
  #heard: HeardWindow[] = [];
  /** Loudness of the latest chunks, from 0 to 1, in step with the windows. */
  #levels: number[] = [];

  constructor(context: DemoContext) {
    this.#context = context;
    this.#play.addEventListener('click', () =>
      this.#toggle((signal) => playedChunks(synthesizedSound(), signal)),
    );
    this.#microphone.addEventListener('click', () => this.#toggle(openMicrophone));
    this.#showWaiting();
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#showMachine();
  }

  close(): void {
    this.#isOpen = false;
    this.#listening?.abort();
  }

  async #showMachine(): Promise<void> {
    const session = this.#voice?.session;
    if (session !== undefined) this.#context.showDevice(session.device);
    await this.#context.machine.show(session, 'silero-vad');
  }

  /** Before anything was heard, the recording is drawn as it will come in. */
  #showWaiting(): void {
    const { samples, sampleRate } = synthesizedSound();
    const count = Math.round(WINDOW_SECONDS * sampleRate);
    this.#levels = Array.from({ length: Math.floor(samples.length / count) }, (_, i) =>
      levelOf(samples.subarray(i * count, (i + 1) * count)),
    );
    this.#paint();
  }

  #toggle(open: (signal: AbortSignal) => AsyncIterable<Float32Array>): void {
    if (this.#listening !== undefined) this.#listening.abort();
    else void this.#listen(open);
  }

  async #listen(open: (signal: AbortSignal) => AsyncIterable<Float32Array>): Promise<void> {
    const listening = new AbortController();
    this.#listening = listening;
    this.#heard = [];
    this.#levels = [];
    this.#showState(true);
    this.#say('Fetching the model, 2 MB, if it is not here yet…');
    try {
      const { voiceActivity } = await import('../../tasks/sound/voice-activity.ts');
      this.#voice ??= await voiceActivity('./files/silero/silero_vad.onnx');
      // Another scene may have been chosen while the model was fetched.
      if (this.#isOpen) await this.#showMachine();
      await using stream = this.#voice.stream();
      for await (const chunk of open(listening.signal)) {
        this.#levels.push(levelOf(chunk));
        for (const window of await stream.push(chunk)) this.#hear(window);
      }
      this.#say(
        `${speechCount(this.#heard)} stretches of speech in ${seconds(this.#heard.length)}`,
      );
      this.#context.announce(this.#status.textContent ?? '');
    } catch (error) {
      if (listening.signal.aborted) this.#say('Stopped.');
      else this.#fail(describeMediaError(error, 'microphone', 'Play the recording instead.'));
    } finally {
      listening.abort();
      this.#listening = undefined;
      this.#showState(false);
    }
  }

  #hear(window: HeardWindow): void {
    this.#heard.push(window);
    this.#say(window.isSpeech ? 'Speech' : 'No speech');
    showFacts(this.#facts, [
      ['Heard', seconds(this.#heard.length)],
      ['Likelihood of speech', `${Math.round(100 * window.likelihood)} %`],
      ['Stretches of speech', String(speechCount(this.#heard))],
    ]);
    this.#paint();
  }

  /** Loudness as bars, those with speech in colour, and the likelihood of speech as a line. */
  #paint(): void {
    const { width, height } = this.#canvas;
    const context = context2d(this.#canvas);
    const style = getComputedStyle(this.#canvas);
    const first = Math.max(0, this.#levels.length - SHOWN_WINDOWS);
    const step = width / SHOWN_WINDOWS;
    context.clearRect(0, 0, width, height);
    for (const [i, level] of this.#levels.slice(first).entries()) {
      const isSpeech = this.#heard[first + i]?.isSpeech === true;
      context.fillStyle = isSpeech ? style.accentColor : style.color;
      const size = Math.max(2, level * height * 0.9);
      context.fillRect(i * step, (height - size) / 2, Math.max(1, step - 1), size);
    }
    context.strokeStyle = style.borderTopColor;
    context.lineWidth = 2;
    context.beginPath();
    for (const [i, { likelihood }] of this.#heard.slice(first).entries()) {
      context.lineTo(i * step, (height - 4) * (1 - likelihood) + 2);
    }
    context.stroke();
  }

  #showState(isListening: boolean): void {
    this.#play.textContent = isListening ? 'Stop' : 'Play the recording';
    this.#play.setAttribute('aria-pressed', String(isListening));
    this.#microphone.disabled = isListening;
  }

  #say(text: string): void {
    this.#status.dataset['kind'] = 'progress';
    if (this.#status.textContent !== text) this.#status.textContent = text;
  }

  #fail(text: string): void {
    this.#status.dataset['kind'] = 'error';
    this.#status.textContent = text;
  }
}

function levelOf(samples: Float32Array): number {
  const power =
    samples.reduce((sum, value) => sum + value * value, 0) / Math.max(1, samples.length);
  return Math.min(1, 4 * Math.sqrt(power));
}

function seconds(windows: number): string {
  return `${(windows * WINDOW_SECONDS).toFixed(1)} s`;
}

/** Stretches that began so far. */
function speechCount(heard: readonly HeardWindow[]): number {
  return heard.filter(({ isSpeech }, i) => isSpeech && heard[i - 1]?.isSpeech !== true).length;
}
