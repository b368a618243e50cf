import { describe, expect, test } from 'vitest';
import {
  melSpectrogram,
  speechToText,
  type SpeechToTextOptions,
  type TaskFolder,
} from '../index.ts';
import type { TranscribeOptions } from './speech-types.ts';
import {
  DECODER,
  DECODER_MERGED,
  DECODER_WITH_PAST,
  FIRST_TIMESTAMP,
  meanOf,
  MOONSHINE_ENCODER,
  referenceLogits,
  TOKENIZER,
  TOKENS,
  VOCABULARY,
  WEIGHTS,
  WHISPER_ENCODER,
  WORDS,
} from '../testing/speech-models.ts';
import { isSilent, windowEnd } from './transcriber.ts';

const RATE = 16_000;
/** Whisper's windows are 2 s long here. */
const WINDOW = 2;

const GENERATION = {
  decoder_start_token_id: TOKENS.start,
  eos_token_id: TOKENS.end,
  no_timestamps_token_id: TOKENS.none,
  lang_to_id: { '<|en|>': TOKENS.en, '<|de|>': TOKENS.de },
  task_to_id: { transcribe: TOKENS.transcribe, translate: TOKENS.translate },
  suppress_tokens: [0, TOKENS.start, TOKENS.en, TOKENS.de, TOKENS.transcribe, TOKENS.translate],
  begin_suppress_tokens: [3, TOKENS.end],
  max_initial_timestamp_index: 30,
  max_length: 24,
};

const BASE: Readonly<Record<string, unknown>> = {
  'config.json': { model_type: 'whisper' },
  'preprocessor_config.json': { feature_size: 80, chunk_length: WINDOW, sampling_rate: RATE },
  'generation_config.json': GENERATION,
  'tokenizer.json': TOKENIZER,
  'tokenizer_config.json': {},
  'onnx/encoder_model.onnx': WHISPER_ENCODER,
};
const DECODERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  merged: { 'onnx/decoder_model_merged.onnx': DECODER_MERGED },
  'with one for further tokens': {
    'onnx/decoder_model.onnx': DECODER,
    'onnx/decoder_with_past_model.onnx': DECODER_WITH_PAST,
  },
  'that reads all tokens again': { 'onnx/decoder_model.onnx': DECODER },
};
const MERGED = { ...BASE, ...DECODERS['merged'] };
const MOONSHINE = {
  ...MERGED,
  'generation_config.json': { decoder_start_token_id: TOKENS.start, eos_token_id: TOKENS.end },
  'onnx/encoder_model.onnx': MOONSHINE_ENCODER,
};

const folder =
  (files: Readonly<Record<string, unknown>>): TaskFolder =>
  async (name) => {
    const content = files[name];
    if (content === undefined || content instanceof Uint8Array) return content;
    return new TextEncoder().encode(JSON.stringify(content));
  };

const open = (
  files: Readonly<Record<string, unknown>> = MERGED,
  options: SpeechToTextOptions = {},
) => speechToText(folder(files), { device: 'host', ...options });

/** Tones of other heights with silence between. */
function sound(seconds: number, pauses: readonly number[] = []): Float32Array {
  return Float32Array.from({ length: seconds * RATE }, (_, i) => {
    const t = i / RATE;
    if (pauses.some((pause) => Math.abs(t - pause) < 0.15)) return 0;
    return 0.4 * Math.sin(2 * Math.PI * (200 + 90 * Math.floor(t)) * t);
  });
}

/** The mean of the states that the encoder makes of a window, by its formula. */
function encoded(window: Float32Array): number[] {
  const padded = new Float32Array(WINDOW * RATE);
  padded.set(window);
  const { data, frames, bands } = melSpectrogram(padded, { frames: WINDOW * 100 });
  const least = Math.max(...data) - 8;
  const states: number[] = [];
  for (let f = 0; f < frames; f += 2) {
    for (let c = 0; c < 4; c++) {
      let sum = 0;
      for (let band = 0; band < bands; band++) {
        const value = (Math.max(data[band * frames + f] ?? 0, least) + 4) / 4;
        sum += value * (WEIGHTS.features[band * 4 + c] ?? 0);
      }
      states.push(sum);
    }
  }
  return meanOf(states);
}

/** The tokens behind `begin`, by the rules of @huggingface/transformers, which has them as processors of logits. */
function expectedTokens(
  states: readonly number[],
  begin: readonly number[],
  timestamps: boolean,
): number[] {
  const tokens = [...begin];
  while (tokens.length < GENERATION.max_length) {
    const logits = referenceLogits(tokens, states);
    const forbid = (test: (id: number) => boolean): void => {
      for (let id = 0; id < VOCABULARY; id++) if (test(id)) logits[id] = -Infinity;
    };
    forbid((id) => GENERATION.suppress_tokens.includes(id));
    const text = tokens.slice(begin.length);
    if (text.length === 0) forbid((id) => GENERATION.begin_suppress_tokens.includes(id));
    const isTime = (id: number): boolean => id >= FIRST_TIMESTAMP;
    if (timestamps) {
      forbid((id) => id === TOKENS.none);
      const [last = -1, before = FIRST_TIMESTAMP] = text.toReversed();
      if (text.length === 0) forbid((id) => !isTime(id) || id > FIRST_TIMESTAMP + 30);
      else {
        if (isTime(last)) forbid((id) => (isTime(before) ? isTime(id) : id < TOKENS.end));
        const time = text.findLast(isTime) ?? 0;
        const isEnd = isTime(last) && !isTime(before);
        forbid((id) => isTime(id) && (isEnd ? id < time : id <= time));
        const sum = logits.slice(FIRST_TIMESTAMP).reduce((a, b) => a + Math.exp(b), 0);
        const word = Math.max(...logits.slice(0, FIRST_TIMESTAMP));
        if (Math.log(sum) > word) forbid((id) => !isTime(id));
      }
    }
    const next = logits.indexOf(Math.max(...logits));
    if (next === TOKENS.end) break;
    tokens.push(next);
  }
  return tokens.slice(begin.length);
}

const wordsOf = (tokens: readonly number[]): string =>
  tokens.flatMap((id) => WORDS[id] ?? []).join(' ');

describe.each(Object.keys(DECODERS))('Whisper’s shape, a decoder %s', (name) => {
  const files = { ...BASE, ...DECODERS[name] };
  const states = encoded(sound(1.5));
  const given = { samples: sound(1.5), sampleRate: RATE };

  test.each(['host', 'wasm'] as const)('tokens are those of the rules, on %s', async (device) => {
    await using speech = await open(files, { device });
    expect(speech.languages).toEqual(['en', 'de']);
    const { text, language, segments } = await speech.transcribe(given, { language: 'de' }).whole();
    const begin = [TOKENS.start, TOKENS.de, TOKENS.transcribe, TOKENS.none];
    const expected = wordsOf(expectedTokens(states, begin, false));
    expect(expected.split(' ').length).toBeGreaterThan(3);
    expect(text).toBe(expected);
    expect(language).toBe('de');
    expect(segments).toEqual([{ text: expected, start: 0, end: 1.5 }]);
  });

  test('the likeliest language is taken, and another task', async () => {
    await using speech = await open(files);
    const logits = referenceLogits([TOKENS.start], states);
    const isGerman = (logits[TOKENS.de] ?? 0) > (logits[TOKENS.en] ?? 0);
    const { text, language } = await speech.transcribe(given, { task: 'translate' }).whole();
    expect(language).toBe(isGerman ? 'de' : 'en');
    const begin = [TOKENS.start, isGerman ? TOKENS.de : TOKENS.en, TOKENS.translate, TOKENS.none];
    expect(text).toBe(wordsOf(expectedTokens(states, begin, false)));
  });
});

/** Segments between timestamps; what has none at its end is heard again from the last pair on, where there is one. */
function expectedSegments(samples: Float32Array): [text: string, start: number, end: number][] {
  const segments: [string, number, number][] = [];
  const begin = [TOKENS.start, TOKENS.en, TOKENS.transcribe];
  for (let from = 0; from < samples.length; ) {
    const tokens = expectedTokens(encoded(samples.subarray(from)), begin, true);
    const last = tokens.findLastIndex((id) => id >= FIRST_TIMESTAMP);
    const isPair = last > 0 && (tokens[last - 1] ?? 0) >= FIRST_TIMESTAMP;
    const seconds = (at: number): number => ((tokens[at] ?? 0) - FIRST_TIMESTAMP) * 0.02;
    const again = isPair ? from + Math.round(seconds(last - 1) * RATE) : samples.length;
    const isAgain = again > from && again < samples.length;
    const kept = isAgain ? tokens.slice(0, last) : tokens;
    for (let i = 0; i < kept.length; ) {
      const end = kept.findIndex((id, k) => k > i && id >= FIRST_TIMESTAMP);
      const text = wordsOf(kept.slice(i + 1, end < 0 ? kept.length : end));
      const limit = (at: number): number => Math.min(from / RATE + at, samples.length / RATE);
      const till = end < 0 ? samples.length / RATE : limit(seconds(end));
      if (text !== '') segments.push([text, limit(seconds(i)), till]);
      i = end < 0 ? kept.length : end + (text === '' ? 0 : 1);
    }
    from = isAgain ? again : samples.length;
  }
  return segments;
}

test('timestamps come in pairs and rise; segments are what lies between them', async () => {
  await using speech = await open();
  const samples = sound(1.9);
  const options = { language: 'en', timestamps: true } as const;
  const expected = expectedSegments(samples);
  expect(expected.length).toBeGreaterThan(1);
  const { segments } = await speech.transcribe({ samples, sampleRate: RATE }, options).whole();
  expect(segments.map(({ text }) => text)).toEqual(expected.map(([text]) => text));
  for (const [i, [, start, end]] of expected.entries()) {
    expect(segments[i]?.start).toBeCloseTo(start, 4);
    expect(segments[i]?.end).toBeCloseTo(end, 4);
  }
});

test('a long recording is cut where it is quiet, and pieces are the whole', async () => {
  await using speech = await open();
  const samples = sound(4.5, [1.6, 3.3]);
  const heard: number[] = [];
  const options: TranscribeOptions = {
    language: 'en',
    onProgress: (seconds, all) => heard.push(seconds / all),
  };
  let text = '';
  const ends: number[] = [];
  for await (const piece of speech.transcribe({ samples, sampleRate: RATE }, options)) {
    text += piece.text;
    if (piece.segment) ends.push(piece.segment.end);
  }
  expect(ends).toHaveLength(3);
  expect(ends[0]).toBeCloseTo(1.6, 1);
  expect(ends[1]).toBeCloseTo(3.3, 1);
  expect(ends[2]).toBe(4.5);
  expect(heard.at(-1)).toBe(1);
  expect(heard).toEqual(heard.toSorted((a, b) => a - b));
  const whole = await speech.transcribe({ samples, sampleRate: RATE }, options).whole();
  expect(whole.text).toBe(text.trim());
  const begin = [TOKENS.start, TOKENS.en, TOKENS.transcribe, TOKENS.none];
  const cuts = [0, ...ends.map((end) => Math.round(end * RATE))];
  const expected = cuts.slice(1).map((to, i) => {
    return wordsOf(expectedTokens(encoded(samples.subarray(cuts[i], to)), begin, false));
  });
  expect(whole.segments.map((segment) => segment.text)).toEqual(expected);
});

test('Moonshine’s shape: samples in, six and a half tokens a second at most', async () => {
  await using speech = await open(MOONSHINE);
  const samples = sound(2);
  const states: number[] = [];
  for (let i = 0; i < samples.length / 160; i++) {
    for (let c = 0; c < 4; c++) {
      let sum = 0;
      for (let k = 0; k < 160; k++) {
        sum += (samples[i * 160 + k] ?? 0) * (WEIGHTS.samples[c * 160 + k] ?? 0);
      }
      states.push(sum);
    }
  }
  const tokens: number[] = [TOKENS.start];
  while (tokens.length <= 13) {
    const logits = referenceLogits(tokens, meanOf(states));
    const next = logits.indexOf(Math.max(...logits));
    if (next === TOKENS.end) break;
    tokens.push(next);
  }
  const { text } = await speech.transcribe({ samples, sampleRate: RATE }).whole();
  expect(text).toBe(wordsOf(tokens));
  await expect(
    speech.transcribe({ samples, sampleRate: RATE }, { timestamps: true }).whole(),
  ).rejects.toThrow('got language, task or timestamps for a model that takes input_values');
});

test('silence says nothing, and a signal ends it', async () => {
  await using speech = await open();
  const silence = { samples: new Float32Array(RATE * 5), sampleRate: RATE };
  expect(await speech.transcribe(silence).whole()).toEqual({
    text: '',
    segments: [],
    language: undefined,
  });
  const controller = new AbortController();
  const pieces: string[] = [];
  const given = { samples: sound(3), sampleRate: RATE };
  const reading = (async () => {
    for await (const { text } of speech.transcribe(given, { signal: controller.signal })) {
      pieces.push(text);
      controller.abort(new Error('enough'));
    }
  })();
  await expect(reading).rejects.toThrow('enough');
  expect(pieces).toHaveLength(1);
});

test('what is wrong is said', async () => {
  await using speech = await open();
  const given = { samples: sound(1), sampleRate: RATE };
  await expect(speech.transcribe(given, { language: 'fr' }).whole()).rejects.toThrow(
    'language: got fr, expected one of en, de.',
  );
  const used = speech.transcribe(given, { language: 'en' });
  await used.whole();
  await expect(used.whole()).rejects.toThrow('Transcription: got a second use');
  await expect(open({ ...BASE })).rejects.toThrow('got none of the files that a model may be in');
  const { 'tokenizer.json': _, ...without } = MERGED;
  await expect(open(without)).rejects.toThrow('tokenizer.json: got no such file');
  const plain = { ...MERGED, 'generation_config.json': { ...GENERATION, lang_to_id: undefined } };
  await using english = await open(plain);
  await expect(english.transcribe(given, { language: 'en' }).whole()).rejects.toThrow(
    'got language en, expected neither, for a model of one language',
  );
});

describe('cuts', () => {
  test('lie in the middle of the last quietest place', () => {
    const samples = sound(6, [2, 2.6, 5]);
    const end = windowEnd(samples, 0, { most: 3 * RATE, sampleRate: RATE });
    expect(end / RATE).toBeCloseTo(2.6, 1);
    expect(windowEnd(samples, 4 * RATE, { most: 3 * RATE, sampleRate: RATE })).toBe(6 * RATE);
  });

  test('windows of a few samples end', () => {
    expect(windowEnd(sound(1), 0, { most: 10, sampleRate: RATE })).toBe(10);
  });

  test('silence is what nobody hears', () => {
    expect(isSilent(new Float32Array(RATE).fill(5e-5), RATE)).toBe(true);
    expect(isSilent(sound(1), RATE)).toBe(false);
  });
});
