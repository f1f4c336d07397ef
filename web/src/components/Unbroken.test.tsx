import { render } from '@testing-library/react';
import { expect, it } from 'vitest';
import { Unbroken } from './Unbroken';

it('keeps an option in one piece and every character of the text', () => {
  const text = 'trainyard run --gpu-memory 24G -g 2 -- python a-b.py --lr=1e-4 （--devices cpu:2）';
  const { container } = render(<Unbroken text={text} />);
  expect(container.textContent).toBe(text);
  expect([...container.querySelectorAll('span')].map((option) => option.textContent)).toEqual(['--gpu-memory', '-g', '--', '--lr', '--devices']);
});
