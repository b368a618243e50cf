import { encodeProgram } from '../../../src/playground/share-link.ts';
import { playgroundInput } from './playground-input.ts';

/** Buttons on each block of code: one that copies it, and a link to the playground where it runs there. */
export function setUpCode(): void {
  for (const block of document.querySelectorAll('main pre')) {
    const tools = document.createElement('div');
    tools.className = 'tools';
    void addLink(block, tools);
    if ('clipboard' in navigator) tools.append(copyButton(block));
    const frame = document.createElement('div');
    frame.className = 'code';
    block.replaceWith(frame);
    frame.append(block, tools);
  }
}

function copyButton(block: Element): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => void copy(block.textContent, button));
  return button;
}

async function copy(text: string, button: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not allowed';
  }
  setTimeout(() => (button.textContent = 'Copy'), 1500);
}

async function addLink(block: Element, tools: Element): Promise<void> {
  const program = block.textContent;
  const isProgram = block.querySelector('.language-weft') !== null;
  const input = isProgram ? playgroundInput(program) : undefined;
  if (input === undefined || !('CompressionStream' in globalThis)) return;
  const link = document.createElement('a');
  link.textContent = 'Open in the playground';
  const root = document.body.dataset['root'] ?? '.';
  link.href = `${root}/playground.html${await encodeProgram({ program, input })}`;
  tools.prepend(link);
}
