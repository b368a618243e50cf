export {
  ImageClassifier,
  imageClassifier,
  type ImageClassifierOptions,
} from './image-classifier.ts';
export { Ocr, ocr, type OcrOptions, type OcrSources } from './ocr/ocr.ts';
export type { PageText, TextLine } from './ocr/page-text.ts';
export { type DrawOptions, drawTensor, tensorToBitmap } from './pictures/draw-tensor.ts';
export type { PictureOptions } from './pictures/picture-options.ts';
export { preparePictures, type PreparedPictures } from './pictures/prepare-pictures.ts';
export { preparePicturesOnDevice, type PicturesOnDevice } from './pictures/prepare-on-device.ts';
export type { Picture } from './pictures/pixels.ts';
export { readPreprocessorConfig } from './pictures/preprocessor-config.ts';
export { type Box, overlap, type ScoredBox, suppress } from './results/boxes.ts';
export {
  activate,
  type Activation,
  areProbabilities,
  type LabelScore,
  topLabels,
} from './results/labels.ts';
export { numbersOf } from './results/numbers.ts';
export { applyMask, type MaskedPicture } from './segmentation/background-removal.ts';
export {
  BackgroundRemoval,
  backgroundRemoval,
  type BackgroundRemovalOptions,
} from './segmentation/background-removal.ts';
export {
  ImageSegmenter,
  imageSegmenter,
  type ImageSegmenterOptions,
} from './segmentation/image-segmenter.ts';
export type { Mask, Segment } from './segmentation/segmentation.ts';
export { loadTaskModel, type TaskFolder, type TaskModel, type TaskSource } from './task-model.ts';
export type { TaskOptions } from './task-options.ts';
export { type MelOptions, type MelSpectrogram, melSpectrogram } from './sound/mel-spectrogram.ts';
export {
  SpeechToText,
  speechToText,
  type SpeechToTextOptions,
  type Transcript,
} from './speech/speech-to-text.ts';
export type { TranscriptSegment } from './speech/speech-types.ts';
export { readSound, type Samples, type Sound } from './sound/sound.ts';
export type { SpeechSegment } from './sound/speech-segments.ts';
export { VoiceActivity, voiceActivity, type VoiceActivityOptions } from './sound/voice-activity.ts';
export {
  WakeWord,
  wakeWord,
  type WakeWordOptions,
  type WakeWordSources,
} from './sound/wake-word.ts';
export {
  type DetectedObject,
  ObjectDetector,
  objectDetector,
  type ObjectDetectorOptions,
} from './detection/object-detector.ts';
export {
  SuperResolution,
  superResolution,
  type SuperResolutionOptions,
} from './super-resolution.ts';
export { TextEmbedding, textEmbedding, type TextEmbeddingOptions } from './text-embedding.ts';
