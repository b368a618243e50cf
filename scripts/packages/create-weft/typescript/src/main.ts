import { imageClassifier } from 'weft-vm/tasks';

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const picture = element<HTMLImageElement>('picture');
const answer = element<HTMLOutputElement>('answer');
const pad = element<HTMLCanvasElement>('pad');
const file = element<HTMLInputElement>('file');

// The folder has a trained network, the names of its classes, and how it wants pictures.
const classifier = await imageClassifier('/digits/');

async function show(what: HTMLImageElement | HTMLCanvasElement): Promise<void> {
  const [best] = await classifier.classify(what);
  answer.value = `${best?.label}, ${Math.round(100 * (best?.score ?? 0))}% sure`;
}

await picture.decode();
await show(picture);

// A picture of your own.
file.addEventListener('change', async () => {
  const [chosen] = file.files ?? [];
  if (chosen === undefined) return;
  picture.src = URL.createObjectURL(chosen);
  await picture.decode();
  await show(picture);
});

// A digit that you draw.
const ink = pad.getContext('2d') as CanvasRenderingContext2D;

function clear(): void {
  ink.fillStyle = 'white';
  ink.fillRect(0, 0, pad.width, pad.height);
  ink.lineWidth = 22;
  ink.lineCap = 'round';
}

pad.addEventListener('pointerdown', ({ pointerId, offsetX, offsetY }) => {
  pad.setPointerCapture(pointerId);
  ink.beginPath();
  ink.moveTo(offsetX, offsetY);
});
pad.addEventListener('pointermove', ({ buttons, offsetX, offsetY }) => {
  if (buttons === 0) return;
  ink.lineTo(offsetX, offsetY);
  ink.stroke();
});
pad.addEventListener('pointerup', () => show(pad));
element('clear').addEventListener('click', clear);
clear();
