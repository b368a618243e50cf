import type { Session } from '../../client/index.ts';
import type { PageText } from '../../tasks/index.ts';
import type { DemoContext, Section } from '../demo-context.ts';
import { describeMediaError } from './describe-media-error.ts';
import { byId, context2d, element } from '../element.ts';
import { showFacts } from '../facts.ts';
import { describeError, formatMs } from '../../core/format-quantity.ts';
import { openCamera } from './open-camera.ts';
import { snippetOf } from '../snippet.ts';

const WIDTH = 560;
const SIZE = 24;
const STEP = 44;
const MARGIN = 40;

/** Texts at the left and at the right of each row. */
const ROWS: readonly (readonly [left: string, right?: string])[] = [
  ['Weaver & Daughters'],
  ['7 Shuttle Lane, Galashiels'],
  ['Receipt 1804', '27.11.2026'],
  ['Linen thread x 3', '5.40'],
  ['Wooden shuttle', '12.90'],
  ['Warp yarn 250 g', '8.75'],
  ['TOTAL', 'GBP 27.05'],
  ['Thank you!'],
];

/** A receipt as one gets it in a shop, drawn in black on white. */
function drawnReceipt(): OffscreenCanvas {
  const canvas = new OffscreenCanvas(WIDTH, 2 * MARGIN + STEP * ROWS.length);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser gives no 2D canvas.');
  context.fillStyle = '#fffdf7';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = '#14191a';
  context.font = `${SIZE}px sans-serif`;
  for (const [i, [left, right = '']] of ROWS.entries()) {
    const y = MARGIN + i * STEP + SIZE;
    context.fillText(left, MARGIN, y);
    context.fillText(right, WIDTH - MARGIN - context.measureText(right).width, y);
  }
  return canvas;
}

/** Reads the text of a drawn receipt, of a picture, or of what the camera sees. */
export class PictureSection implements Section {
  readonly #context: DemoContext;
  readonly #canvas = byId('picture', HTMLCanvasElement);
  readonly #read = byId('picture-read', HTMLButtonElement);
  readonly #camera = byId('picture-camera', HTMLButtonElement);
  readonly #status = byId('picture-status', HTMLElement);
  readonly #text = byId('picture-text', HTMLElement);
  readonly #facts = byId('picture-facts', HTMLElement);
  #picture: ImageBitmap | OffscreenCanvas = drawnReceipt();
  #watching: AbortController | undefined;
  #isReading = false;
  /** The session of the model that finds lines, once the models are here. */
  #session: Session | undefined;
  #isOpen = false;

  constructor(context: DemoContext) {
    this.#context = context;
    byId('picture-snippet', HTMLElement).append(snippetOf('read-text'));
    this.#read.addEventListener('click', () => void this.#readOnce());
    this.#camera.addEventListener('click', () => this.#toggleCamera());
    byId('picture-file', HTMLInputElement).addEventListener('change', (event) => {
      const input = event.currentTarget as HTMLInputElement;
      const file = input.files?.[0];
      input.value = '';
      if (file !== undefined) void this.#choose(file);
    });
    this.#paint(undefined);
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#showMachine();
  }

  close(): void {
    this.#isOpen = false;
    this.#watching?.abort();
  }

  async #showMachine(): Promise<void> {
    const session = this.#session;
    if (session !== undefined) this.#context.showDevice(session.device, { isFastest: true });
    const title = session === undefined ? 'PP-OCRv4' : 'PP-OCRv4, lines';
    await this.#context.machine.show(session, title);
  }

  async #choose(file: File): Promise<void> {
    this.#watching?.abort();
    try {
      this.#picture = await createImageBitmap(file);
      this.#paint(undefined);
      await this.#readOnce();
    } catch (error) {
      this.#fail(describeError(error));
    }
  }

  /** The models are fetched with the first picture. */
  async #readOnce(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#read.disabled = true;
    this.#say('Fetching the models, 15 MB, if they are not here yet; then reading…');
    try {
      const { reader, readText } = await import('../snippets/read-text.ts');
      const begin = performance.now();
      const page = await readText(this.#picture);
      const elapsedMs = performance.now() - begin;
      this.#show(page, elapsedMs);
      await this.#showRun((await reader).session, elapsedMs);
      if (this.#watching === undefined) this.#context.announce(`It says: ${page.text}`);
    } catch (error) {
      this.#watching?.abort();
      this.#fail(describeError(error));
    } finally {
      this.#isReading = false;
      this.#read.disabled = false;
    }
  }

  async #showRun(session: Session, roundTripMs: number): Promise<void> {
    const isFirst = this.#session === undefined;
    this.#session = session;
    // Another tab may have been chosen while the models were fetched.
    if (!this.#isOpen) return;
    if (isFirst) await this.#showMachine();
    this.#context.flow.showRun({ roundTripMs });
  }

  #toggleCamera(): void {
    if (this.#watching !== undefined) this.#watching.abort();
    else void this.#watch();
  }

  /** Reads what the camera sees, picture after picture, until it is stopped. */
  async #watch(): Promise<void> {
    const watching = new AbortController();
    const { signal } = watching;
    this.#watching = watching;
    this.#camera.textContent = 'Stop the camera';
    try {
      const takePicture = await openCamera(signal);
      while (!signal.aborted) {
        this.#picture = await takePicture();
        await this.#readOnce();
      }
    } catch (error) {
      if (!signal.aborted) {
        this.#fail(describeMediaError(error, 'camera', 'Open a picture instead.'));
      }
    } finally {
      watching.abort();
      this.#watching = undefined;
      this.#camera.textContent = 'Camera';
    }
  }

  #show(page: PageText, elapsedMs: number): void {
    this.#paint(page);
    this.#text.replaceChildren(
      ...page.lines.map(({ text }) => element('li', {}, text)),
      ...(page.lines.length === 0 ? [element('li', {}, 'No text.')] : []),
    );
    this.#say('');
    showFacts(this.#facts, [
      ['Lines', String(page.lines.length)],
      ['Took', formatMs(elapsedMs)],
    ]);
  }

  /** The picture, and a box around each line that was found. */
  #paint(page: PageText | undefined): void {
    const { width, height } = this.#picture;
    [this.#canvas.width, this.#canvas.height] = [width, height];
    const context = context2d(this.#canvas);
    context.drawImage(this.#picture, 0, 0);
    context.lineWidth = Math.max(2, width / 300);
    context.strokeStyle = getComputedStyle(this.#canvas).accentColor;
    for (const { corners } of page?.lines ?? []) {
      context.beginPath();
      for (const [x, y] of corners) context.lineTo(x, y);
      context.closePath();
      context.stroke();
    }
  }

  #say(text: string): void {
    this.#status.dataset['kind'] = 'progress';
    this.#status.textContent = text;
  }

  #fail(text: string): void {
    this.#status.dataset['kind'] = 'error';
    this.#status.textContent = text;
  }
}
