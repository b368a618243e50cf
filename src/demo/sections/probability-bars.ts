import { element, toggleData } from '../element.ts';

interface Bar {
  readonly row: HTMLElement;
  readonly fill: HTMLElement;
  readonly value: HTMLElement;
}

/** Ten bars in an ordered list, one per digit. */
export class ProbabilityBars {
  readonly #bars: readonly Bar[];

  constructor(list: HTMLElement) {
    this.#bars = Array.from({ length: 10 }, (_, digit) => {
      const fill = element('div', { class: 'bar-fill' });
      const value = element('span', { class: 'bar-value' }, '–');
      const track = element('div', { class: 'bar-track' }, fill);
      const row = element('li', { class: 'bar' }, element('span', {}, String(digit)), track, value);
      list.append(row);
      return { row, fill, value };
    });
  }

  /** Probabilities of the digits, or undefined for an empty pad. */
  show(probabilities: ArrayLike<number> | undefined): void {
    const best = probabilities === undefined ? -1 : bestDigit(probabilities);
    for (const [digit, { row, fill, value }] of this.#bars.entries()) {
      const probability = probabilities?.[digit];
      // A style attribute would break the content security policy; the object model does not.
      fill.style.transform = `scaleX(${probability ?? 0})`;
      value.textContent = probability === undefined ? '–' : formatPercent(probability);
      toggleData(row, 'best', digit === best);
    }
  }
}

export function bestDigit(probabilities: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < probabilities.length; i++) {
    if ((probabilities[i] ?? 0) > (probabilities[best] ?? 0)) best = i;
  }
  return best;
}

/** `0.3 %`, `97 %`, never broken over two lines. */
export function formatPercent(probability: number): string {
  const percent = probability * 100;
  return `${percent < 10 ? percent.toFixed(1) : Math.round(percent)}\u00a0%`;
}
