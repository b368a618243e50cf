import { expect, test } from './fixtures.ts';

test.use({ isStrict: true });

test('writes a story, stops, goes on after a reload with the same words, and answers in JSON', async ({
  page,
}) => {
  const [text, write] = [page.locator('#story-text'), page.locator('#story-write')];
  const facts = page.locator('#story-facts');
  await page.goto('/#story');
  await expect(write).toBeEnabled();
  const kept = { prompt: 'Mia went to the park. Tom', written: '', seed: 4, isOver: false };
  const open = async (story: object): Promise<void> => {
    await page.evaluate(
      (given) => localStorage.setItem('weft-story', JSON.stringify(given)),
      story,
    );
    await page.reload();
    await expect(write).toBeEnabled();
    await expect(write).not.toHaveText('Stop');
  };
  await open(kept);
  await write.click();
  await expect(facts).toContainText('a second');
  const whole = (await text.textContent()) ?? '';
  expect(whole.length).toBeGreaterThan(kept.prompt.length + 10);

  // As it was left after some words.
  const written = whole.slice(kept.prompt.length, kept.prompt.length + 6).replace(/\S*$/, '');
  await open({ ...kept, written: written.trimEnd() });
  await expect(write).toHaveText(written.trim() === '' ? 'Write' : 'Go on');
  await write.click();
  await expect(facts).toContainText('a second');
  await expect(text).toHaveText(whole);

  await page.locator('#story-json').check();
  await page.locator('#story-again').click();
  await expect(text).toContainText('}');
  const answer: unknown = JSON.parse(((await text.textContent()) ?? '').slice(kept.prompt.length));
  expect(Object.keys(answer as object)).toEqual(['who', 'where']);
});
