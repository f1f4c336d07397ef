#include "posix/disks.h"

#include <gtest/gtest.h>

namespace ty {
namespace {

constexpr std::string_view kMounts =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "40 22 0:45 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2\n"
    "41 40 8:2 / /home/local rw shared:3 - xfs /dev/sdb1 rw\n"
    "42 22 0:46 / /mnt/my\\040cloud rw - fuse.sshfs me@there:/ rw\n"
    "43 22 0:47 / /mnt/windows rw - fuseblk /dev/sdc1 rw\n"
    "44 22 0:48 / /mnt/twice rw - ext4 /dev/sdd1 rw\n"
    "45 44 0:49 / /mnt/twice rw - cifs //server/share rw\n";

std::string On(std::string_view path) {
  return NetworkFileSystem(kMounts, path);
}

TEST(Disks, AFolderOnTheNetworkIsToldByItsMount) {
  EXPECT_EQ(On("/home/ann"), "nfs4");
  EXPECT_EQ(On("/home"), "nfs4");
  EXPECT_EQ(On("/mnt/my cloud/x"), "fuse.sshfs");
}

TEST(Disks, ADiskOfThisMachineIsNone) {
  EXPECT_EQ(On("/var/tmp"), "");
  EXPECT_EQ(On("/homework"), "");
  EXPECT_EQ(On("/home/local/ann"), "");
  EXPECT_EQ(On("/mnt/windows"), "");
}

TEST(Disks, AUsualDiskTakesWritingAndAFileThatIsNotThereSaysNothing) {
  EXPECT_FALSE(IsReadOnlyDisk("/dev/shm"));
  EXPECT_FALSE(IsReadOnlyDisk("/nowhere/at/all"));
}

TEST(Disks, OfTwoMountsOnOneFolderTheLaterCounts) {
  EXPECT_EQ(On("/mnt/twice/x"), "cifs");
}

TEST(Disks, ASandboxWhoseWholeDiskIsPassedInCountsAsLocal) {
  EXPECT_EQ(NetworkFileSystem("22 1 0:1 / / rw - 9p none rw\n", "/var"), "");
  EXPECT_EQ(NetworkFileSystem("22 1 0:1 / / rw - nfs4 server:/root rw\n", "/var"), "nfs4");
}

TEST(Disks, TextThatIsNoListOfMountsTellsNothing) {
  EXPECT_EQ(NetworkFileSystem("", "/var"), "");
  EXPECT_EQ(NetworkFileSystem("what is this\n - \n", "/var"), "");
}

TEST(Disks, RoomIsToldOfAFolderThatIsNotThereYet) {
  EXPECT_GT(RoomAt("/tmp/not/there/yet"), 0);
}

}  // namespace
}  // namespace ty
