// All curves of a task, losses first, under one set of controls. Any number of metrics: only charts in view do anything.
import { Anchor, Button, Chip, Code, Group as Row, SegmentedControl, Skeleton, Slider, Switch, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch, IconZoomReset } from '@tabler/icons-react';
import { memo, useCallback, useMemo, useState } from 'react';
import type { XRange } from '@/components/chart';
import { Section } from '@/components/Section';
import { detailOf } from '@/lib/api';
import { useWords } from '@/lib/words';
import { useSeries, type Series } from '../api';
import { CurveCard } from './CurveCard';
import { findGroups, giveSlots, groupTags, type Group } from './tags';
import { useView } from './useView';
import type { Scale, View } from './view';
import type { XKind } from '../api';
import classes from './Curves.module.css';

const kFew = 4; // charts that are all seen at once need no choice
const kChips = 24; // more metrics than that are found by typing; then a line of chips is enough
const kChipsOfMany = 8;
const kCards = 60; // charts at first; the others on demand

export const Curves = memo(function Curves(props: { id: number; open: boolean }) {
  const { t } = useWords();
  const { id } = props;
  const series = useSeries(id);
  const [view, setView] = useView();
  const [all, setAll] = useState(false);
  const list = series.data?.items;
  // The same groups as long as there are the same metrics, whatever their values.
  const names = JSON.stringify((list ?? []).map((one) => one.tag));
  const groups = useMemo(() => groupTags(JSON.parse(names) as string[]), [names]);
  const [given] = useState(() => new Map<string, number>());
  const slots = useMemo(() => {
    for (const group of groups) giveSlots(group, given);
    return new Map(given);
  }, [groups, given]);
  const byTag = useMemo(() => new Map((list ?? []).map((one) => [one.tag, one])), [list]);

  // The slider moves at once, the yard is asked when it rests.
  const [smooth] = useDebouncedValue(view.smooth, 120);
  const looked = useMemo(() => ({ x: view.x, scale: view.scale, smooth, older: view.older, from: view.from, to: view.to }), [view.x, view.scale, smooth, view.older, view.from, view.to]);
  const zoom = useCallback((range: XRange | null) => setView({ from: range?.from ?? null, to: range?.to ?? null }), [setView]);
  const found = useMemo(() => findGroups(groups, view.find), [groups, view.find]);
  const chosen = useMemo(() => {
    const only = new Set(view.only);
    const some = found.filter((group) => only.has(group.title));
    return some.length > 0 ? some : found;
  }, [found, view.only]);

  if (series.isPending) return <Skeleton height={220} aria-label={t('app.loading')} />;
  if (series.error && !list) return <Section title={t('task.curves')}><p className={classes.none}>{detailOf(series.error, t('app.unreachable'))}</p></Section>;
  if (groups.length === 0) return <Section title={t('task.curves')}><None open={props.open} /></Section>;
  const cards = all ? chosen : chosen.slice(0, kCards);
  const runs = Math.max(1, ...(list ?? []).map((one) => one.parts.length));
  return (
    <Section title={t('task.curves')} count={groups.length} bare actions={view.from !== null && (
      <Button size="compact-xs" variant="subtle" leftSection={<IconZoomReset size={14} stroke={1.7} aria-hidden />} onClick={() => zoom(null)}>
        {t('task.curves_whole')}
      </Button>
    )}>
      <Controls view={view} set={setView} runs={runs} />
      {groups.length > kFew && <Choice groups={groups} found={found} view={view} set={setView} />}
      {found.length === 0 ? (
        <p className={classes.none}>{t('task.curves_none_found')}</p>
      ) : (
        <div className={classes.grid}>
          {cards.map((group) => (
            <CurveCard key={group.tags.join('\n')} id={id} group={group} series={group.tags.flatMap((tag): Series[] => [byTag.get(tag)].filter((one) => one !== undefined))} slots={slots} view={looked} onZoom={zoom} />
          ))}
        </div>
      )}
      {cards.length < chosen.length && (
        <Button variant="default" size="xs" mt="sm" onClick={() => setAll(true)}>
          {t('task.curves_more', { count: chosen.length - cards.length })}
        </Button>
      )}
    </Section>
  );
});

function Controls(props: { view: View; set: (change: Partial<View>) => void; runs: number }) {
  const { t } = useWords();
  const { view, set } = props;
  return (
    <div className={classes.controls} role="group" aria-label={t('task.curves_controls')}>
      {/* A range over steps means nothing over time. */}
      <SegmentedControl<XKind> size="xs" aria-label={t('task.x')} value={view.x} onChange={(x) => set({ x, from: null, to: null })} data={[{ value: 'step', label: t('task.x_step') }, { value: 'time', label: t('task.x_time') }, { value: 'elapsed', label: t('task.x_elapsed') }]} />
      <SegmentedControl<Scale> size="xs" aria-label={t('task.scale')} value={view.scale} onChange={(scale) => set({ scale })} data={[{ value: 'linear', label: t('task.scale_linear') }, { value: 'log', label: t('task.scale_log') }, { value: 'symlog', label: t('task.scale_symlog') }]} />
      <div className={classes.smooth}>
        <span className={classes.controlLabel}>{t('task.smooth')}</span>
        <Slider className={classes.slider} size="sm" label={null} min={0} max={0.99} step={0.01} value={view.smooth} onChange={(smooth) => set({ smooth })} thumbLabel={t('task.smooth')} thumbValueText={(value) => (value === 0 ? t('task.smooth_off') : value.toFixed(2))} />
        <span className={classes.smoothValue}>{view.smooth === 0 ? t('task.smooth_off') : view.smooth.toFixed(2)}</span>
      </div>
      {props.runs > 1 && <Switch size="xs" label={t('task.older_runs')} checked={view.older} onChange={(event) => set({ older: event.currentTarget.checked })} />}
    </div>
  );
}

function Choice(props: { groups: Group[]; found: Group[]; view: View; set: (change: Partial<View>) => void }) {
  const { t } = useWords();
  const { groups, found, view, set } = props;
  const chips = [...new Set([...found.slice(0, found.length > kChips ? kChipsOfMany : kChips).map((group) => group.title), ...view.only])];
  return (
    <Row gap={6} className={classes.choice}>
      {groups.length > 6 && (
        <TextInput size="xs" className={classes.find} leftSection={<IconSearch size={13} stroke={1.7} aria-hidden />} aria-label={t('task.curves_find')} placeholder={t('task.curves_find')} value={view.find} onChange={(event) => set({ find: event.currentTarget.value })} onKeyDown={(event) => {
          if (event.key === 'Escape' && !event.nativeEvent.isComposing && event.keyCode !== 229) set({ find: '' });
        }} />
      )}
      {chips.map((title) => (
        <Chip key={title} size="xs" variant="outline" classNames={{ label: classes.chip }} title={title} checked={view.only.includes(title)} onChange={(on) => set({ only: on ? [...view.only, title] : view.only.filter((other) => other !== title) })}>
          <bdi>{title}</bdi>
        </Chip>
      ))}
      {found.length > chips.length && <span className={classes.controlLabel}>{t('task.curves_others', { count: found.length - chips.length })}</span>}
      {view.only.length > 0 && (
        <Anchor component="button" type="button" size="xs" onClick={() => set({ only: [] })}>
          {t('task.curves_all')}
        </Anchor>
      )}
    </Row>
  );
}

/** Nothing yet: what would make a curve. */
function None(props: { open: boolean }) {
  const { t } = useWords();
  return (
    <div className={classes.none}>
      <p>{props.open ? t('task.curves_none') : t('task.curves_none_ended')}</p>
      <p>
        {t('task.curves_how')} <Code>epoch 3/20 loss=0.53</Code> {t('task.curves_or')} <Code>{'trainyard.log({"loss": 0.53}, step=40)'}</Code>
      </p>
    </div>
  );
}
