// What the task has written, newest first, to be downloaded. Read when it is looked at, and again when a run ends.
import { ActionIcon, Anchor, Button, Table } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { memo, useEffect, useRef, useState } from 'react';
import { At } from '@/components/Since';
import { Section } from '@/components/Section';
import { detailOf } from '@/lib/api';
import { formatBytes } from '@/lib/format';
import { useWords } from '@/lib/words';
import { fileUrl, filesQuery } from '../api';
import { useInView } from '../curves/useInView';
import classes from './Facts.module.css';

const kPage = 50;

/** `moment` changes when files may have: at the end of a run. */
export const Files = memo(function Files(props: { id: number; moment: string }) {
  const { t } = useWords();
  const host = useRef<HTMLDivElement>(null);
  const inView = useInView(host);
  const [seen, setSeen] = useState(false);
  const [shown, setShown] = useState(kPage);
  useEffect(() => {
    if (inView) setSeen(true);
  }, [inView]);
  const files = useQuery({ ...filesQuery(props.id), enabled: seen });
  const { refetch } = files;
  const moment = useRef(props.moment);
  useEffect(() => {
    if (moment.current === props.moment) return;
    moment.current = props.moment;
    if (seen) void refetch();
  }, [props.moment, seen, refetch]);
  const items = files.data?.items ?? [];
  return (
    <div ref={host}>
      <Section
        title={t('task.files')}
        {...(files.data ? { count: items.length } : {})}
        actions={
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('task.files_again')} title={t('task.files_again')} loading={files.isFetching} onClick={() => void refetch()}>
            <IconRefresh size={15} stroke={1.7} />
          </ActionIcon>
        }
      >
        {items.length === 0 ? (
          <p className={classes.empty}>{files.error ? detailOf(files.error, t('app.unreachable')) : files.data ? t('task.files_none') : t('app.loading')}</p>
        ) : (
          <Table verticalSpacing={5} horizontalSpacing="sm" className={classes.files}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('task.column_path')}</Table.Th>
                <Table.Th className={classes.size}>{t('task.column_size')}</Table.Th>
                <Table.Th className={classes.when}>{t('task.column_changed')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.slice(0, shown).map((file) => (
                <Table.Tr key={file.path}>
                  <Table.Td className={classes.filePath}>
                    <Anchor href={fileUrl(props.id, file.path)} download size="sm">
                      <bdi>{file.path}</bdi>
                    </Anchor>
                  </Table.Td>
                  <Table.Td className={classes.size}>{formatBytes(file.bytes)}</Table.Td>
                  <Table.Td className={classes.when}>
                    <At time={file.modified_at} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        {shown < items.length && (
          <Button variant="subtle" size="compact-sm" m={6} onClick={() => setShown(shown + 200)}>
            {t('task.files_more', { count: items.length - shown })}
          </Button>
        )}
        {files.data?.cut && shown >= items.length && <p className={classes.empty}>{t('task.files_cut')}</p>}
      </Section>
    </div>
  );
});
