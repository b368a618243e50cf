export {
  type ClassifyOptions,
  ImageClassifier,
  imageClassifier,
  type ImageClassifierOptions,
} from './image-classifier.ts';
export type { DetectorShape } from './detection/detector-shape.ts';
export type { KeyPoint } from './detection/output-matrix.ts';
export type { Pixels } from '../core/pictures/pixels.ts';
export type { Point } from '../core/pictures/rectangle.ts';
export type { DictionarySource } from './ocr/dictionary.ts';
export {
  Ocr,
  ocr,
  type OcrOptions,
  type OcrSources,
} from './ocr/ocr.ts';
export type { PageText, ReadOptions, TextLine } from './ocr/page-text.ts';
export { type DrawOptions, drawTensor, tensorToBitmap } from './pictures/draw-tensor.ts';
export type { EdgeSize, PictureOptions, Size } from './pictures/picture-options.ts';
export { PicturePlace } from './pictures/picture-place.ts';
export { preparePictures, type PreparedPictures } from './pictures/prepare-pictures.ts';
export { preparePicturesOnDevice, type PicturesOnDevice } from './pictures/prepare-on-device.ts';
export type { Picture } from './pictures/pixels.ts';
export { readPreprocessorConfig } from './pictures/preprocessor-config.ts';
export type { Resampling } from './pictures/resample-weights.ts';
export { type Box, overlap, type ScoredBox, suppress } from './results/boxes.ts';
export {
  activate,
  type Activation,
  areProbabilities,
  type LabelScore,
  topLabels,
} from './results/labels.ts';
export { numbersOf } from './results/numbers.ts';
export { applyMask, type MaskedPicture } from './segmentation/apply-mask.ts';
export {
  BackgroundRemoval,
  backgroundRemoval,
  type BackgroundRemovalOptions,
  type MaskOptions,
} from './segmentation/background-removal.ts';
export {
  ImageSegmenter,
  imageSegmenter,
  type ImageSegmenterOptions,
  type SegmentOptions,
} from './segmentation/image-segmenter.ts';
export { type Mask, type Segment, Segmentation } from './segmentation/segmentation.ts';
export { Task } from './task.ts';
export {
  type JsonObject,
  loadTaskModel,
  type TaskFolder,
  type TaskModel,
  type TaskSource,
} from './task-model.ts';
export type { CallOptions, TaskOptions } from './task-options.ts';
export type { MelScale } from './sound/mel-filters.ts';
export { type MelOptions, type MelSpectrogram, melSpectrogram } from './sound/mel-spectrogram.ts';
export {
  SpeechToText,
  speechToText,
  type SpeechToTextOptions,
  type Transcript,
  Transcription,
} from './speech/speech-to-text.ts';
export type {
  TranscribeOptions,
  TranscriptPiece,
  TranscriptSegment,
} from './speech/speech-types.ts';
export { readSound, type Samples, type Sound } from './sound/sound.ts';
export type { SpeechSegment } from './sound/speech-segments.ts';
export {
  type DetectSpeechOptions,
  type HeardWindow,
  type SpeechOptions,
  VoiceActivity,
  voiceActivity,
  type VoiceActivityOptions,
  VoiceStream,
} from './sound/voice-activity.ts';
export {
  type DetectWordsOptions,
  type HeardWord,
  type ListenOptions,
  WakeWord,
  wakeWord,
  type WakeWordOptions,
  type WakeWordSources,
  WakeWordStream,
} from './sound/wake-word.ts';
export {
  type DetectedObject,
  type DetectOptions,
  ObjectDetector,
  objectDetector,
  type ObjectDetectorOptions,
} from './detection/object-detector.ts';
export {
  type EnlargedPicture,
  SuperResolution,
  superResolution,
  type SuperResolutionOptions,
} from './super-resolution.ts';
export {
  type Pooling,
  TextEmbedding,
  textEmbedding,
  type TextEmbeddingOptions,
} from './text-embedding.ts';
