import type MiniSearch from 'minisearch';
import { findSections, type SearchEntry } from './search-options.ts';

/** What people type, and the page or the section that has to come first. */
export const QUESTIONS: Readonly<Record<string, string>> = {
  webcam: 'live-video',
  'camera to canvas': 'live-video',
  'real time video': 'live-video',
  VideoFrame: 'live-video',
  'background blur': 'live-video',
  react: 'frameworks',
  'react hook': 'frameworks#react',
  StrictMode: 'frameworks#react',
  'how do I use it with vue': 'frameworks#vue',
  svelte: 'frameworks#svelte',
  'custom element': 'frameworks#web-components',
  'next.js': 'frameworks',
  electron: 'desktop',
  tauri: 'desktop',
  offline: 'offline',
  pwa: 'offline',
  'service worker': 'offline|deployment',
  memory: 'phones',
  'out of memory': 'phones|troubleshooting',
  iphone: 'phones',
  'memory leak': 'phones',
  'npm package with a model': 'libraries',
  'peer dependency': 'libraries',
  mediapipe: 'from-mediapipe',
  'hand tracking': 'live',
  'face mesh': 'live',
  'pose estimation': 'live',
  'virtual background': 'live#another-background',
  tflite: 'tflite',
  webllm: 'from-webllm',
  'tensorflow.js': 'from-tensorflow-js',
  tfjs: 'from-tensorflow-js',
  onnxruntime: 'from-onnxruntime-web',
  'transformers.js': 'from-transformers-js',
  'hugging face': 'from-transformers-js',
  jax: 'from-jax-js',
  streaming: 'text',
  llama: 'text',
  gguf: 'text',
  chatbot: 'text|from-webllm',
  'json schema': 'text',
  temperature: 'text',
  whisper: 'tasks#writing-down-speech',
  'speech to text': 'tasks#writing-down-speech',
  microphone: 'tasks#hearing-speech',
  ocr: 'tasks#reading-text',
  'object detection': 'tasks#things-in-a-picture',
  yolo: 'tasks#things-in-a-picture',
  segmentation: 'tasks#parts-of-a-picture',
  'remove background': 'tasks#parts-of-a-picture',
  embeddings: 'tasks#embedding-texts',
  progress: 'downloads',
  cancel: 'session#run',
  cache: 'downloads',
  thread: 'devices#threads',
  SharedArrayBuffer: 'devices#threads',
  safari: 'engines',
  firefox: 'engines',
  csp: 'deployment#content-security-policy',
  cors: 'deployment#another-origin',
  cdn: 'deployment#another-origin',
  slow: 'faster',
  quantization: 'quantize',
  vite: 'start#with-a-bundler',
  install: 'start#get-the-package',
  'starter template': 'package#begin-an-application',
  'npm create': 'package#begin-an-application',
  node: 'start#in-node',
  'file not found 404': 'troubleshooting#weft_download',
  NaN: 'debugging|numbers',
  'wrong labels': 'start#without-a-bundler',
  gradient: 'gradients',
  'fine tune': 'training',
  'custom operator': 'write-an-operator',
  'python export': 'onnx',
  license: 'project/license',
};

/** A complaint for each question whose first answer is another one. */
export function wrongAnswers(index: MiniSearch<SearchEntry>): readonly string[] {
  return Object.entries(QUESTIONS).flatMap(([question, expected]) => {
    const id = String(findSections(index, question)[0]?.id);
    const [page, anchor] = id.replace(/^docs\//, '').split(/\.html#?/);
    const isRight = expected
      .split('|')
      .map((one) => one.split('#'))
      .some(([name, heading]) => name === page && (heading === undefined || anchor === heading));
    return isRight ? [] : [`search for "${question}": got ${id}, expected ${expected}`];
  });
}
