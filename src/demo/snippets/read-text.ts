import { ocr, type Picture } from '../../tasks/index.ts';

export const reader = ocr({
  detection: './files/ppocr/detection.onnx',
  recognition: './files/ppocr/recognition.onnx',
  dictionary: './files/ppocr/dictionary.txt',
});
export async function readText(picture: Picture) {
  return (await reader).read(picture); // { text, lines: [{ text, score, box, … }] }
}
